import type { MessageFilter, MessageState } from '@litebus/core'
import type { AxisNames } from '../schema/names.ts'

/** Conditions on a message `m` with its queue row `q`, done row `d` and dead letter `x`, and their values. */
export interface FilterSql {
  readonly joins: string
  readonly conditions: readonly string[]
  readonly values: readonly unknown[]
}

const stateConditions: Readonly<Record<MessageState, string>> = {
  awaiting: '(q.seq is not null and q.lease_expires_at is null and q.attempts = 0)',
  leased: '(q.seq is not null and q.lease_expires_at is not null)',
  retryScheduled: '(q.seq is not null and q.lease_expires_at is null and q.attempts > 0)',
  succeeded: 'd.seq is not null',
  parked: 'x.seq is not null',
}

/** True when no field of a filter narrows anything. */
export function isUnrestricted(filter: MessageFilter): boolean {
  return Object.values(filter).every((value) => value === undefined)
}

/** Builds the conditions of a filter. */
export function filterSql(axis: AxisNames, filter: MessageFilter): FilterSql {
  const values: unknown[] = []
  const conditions: string[] = []
  const add = (condition: (place: string) => string, value: unknown): void => {
    if (value === undefined) return
    values.push(value)
    conditions.push(condition(`$${String(values.length)}`))
  }
  const { ids, states, contracts, tenants, orderingKey, failureCode, createdFrom, createdBefore } = filter
  add((place) => `m.id = any (${place}::uuid[])`, ids === undefined ? undefined : [...ids])
  add(
    (place) => `m.contract_name = any (${place}::text[])`,
    contracts === undefined ? undefined : [...contracts],
  )
  add((place) => `m.tenant = any (${place}::text[])`, tenants === undefined ? undefined : [...tenants])
  add((place) => `m.ordering_key = ${place}::text`, orderingKey)
  add((place) => `x.code = ${place}::text`, failureCode)
  add((place) => `m.created_at >= ${place}::timestamptz`, createdFrom?.toISOString())
  add((place) => `m.created_at < ${place}::timestamptz`, createdBefore?.toISOString())
  if (states !== undefined) {
    conditions.push(`(${['false', ...states.map((state) => stateConditions[state])].join(' or ')})`)
  }
  return {
    joins: `${axis.message} m left join ${axis.queue} q on q.seq = m.seq
      left join ${axis.done} d on d.seq = m.seq left join ${axis.dead} x on x.seq = m.seq`,
    conditions,
    values,
  }
}

/** Joins conditions for a where clause. */
export function where(conditions: readonly string[]): string {
  return conditions.length === 0 ? 'true' : conditions.join(' and ')
}
