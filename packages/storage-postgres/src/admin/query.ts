import {
  ArgumentError,
  failureCategories,
  type FailureRecord,
  type MessagePage,
  type MessageQuery,
  type MessageRecord,
  type MessageState,
} from '@litebus/core'
import type { Database, Row } from '../database/database.ts'
import { decodeMessage } from '../lease/decode-leased.ts'
import type { AxisNames } from '../schema/names.ts'
import { filterSql, where } from './filter-sql.ts'

const milliseconds = (expression: string): string =>
  `(date_part('epoch', ${expression}) * 1000)::bigint::text`

const columns = `m.seq::text,
  case when q.seq is not null then case when q.lease_expires_at is not null then 'leased'
    when q.attempts > 0 then 'retryScheduled' else 'awaiting' end
    when x.seq is not null then 'parked' else 'succeeded' end,
  coalesce(q.attempts, x.attempts, 0)::text,
  case when q.seq is not null and q.lease_expires_at is null then ${milliseconds('coalesce(q.due_at, m.created_at)')} end,
  ${milliseconds('coalesce(d.ended_at, x.ended_at)')},
  ${milliseconds('coalesce(q.first_failure_at, x.first_failure_at)')},
  coalesce(q.failures, x.failures)::text,
  (m.body is null)::text,
  m.id::text, ${milliseconds('m.created_at')}, m.tenant, m.contract_name, m.contract_version::text, m.ordering_key,
  m.idempotency_key, m.metadata, m.trace, null, encode(m.body, 'base64')`

/** One page by sequence. */
export async function query(
  database: Database,
  axis: AxisNames,
  { after, limit = 100, ...filter }: MessageQuery,
): Promise<MessagePage> {
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > 1000) {
    throw new ArgumentError(`expected limit to be an integer from 1 to 1000, found ${String(limit)}`)
  }
  if (after !== undefined && !/^\d{1,18}$/.test(after)) {
    throw new ArgumentError('expected after to be the cursor of a page, found other text')
  }
  const { joins, conditions, values } = filterSql(axis, filter)
  const all = [...conditions, `m.seq > $${String(values.length + 1)}::bigint`]
  const rows = await database.read(
    'query messages',
    `select ${columns} from ${joins} where ${where(all)} order by m.seq limit ${String(limit + 1)}`,
    [...values, after ?? '0'],
  )
  const page = rows.slice(0, limit)
  const last = page.at(-1)?.[0]
  return {
    records: page.map(recordOf),
    ...(rows.length > limit && last != null ? { next: last } : {}),
  }
}

/** One message by id. */
export async function get(
  database: Database,
  axis: AxisNames,
  id: string,
): Promise<MessageRecord | undefined> {
  const page = await query(database, axis, { ids: [id], limit: 1 })
  return page.records[0]
}

function recordOf(row: Row): MessageRecord {
  const [, state, attempts, dueAt, endedAt, firstFailureAt, failures, stripped] = row
  return {
    message: decodeMessage(row, 8, { body: Buffer.from(row[18] ?? '', 'base64') }),
    payload: stripped === 'true' ? 'deleted' : 'stored',
    state: state as MessageState,
    attempts: Number(attempts),
    failures: failuresOf(failures),
    ...(dueAt == null ? undefined : { dueAt: new Date(Number(dueAt)) }),
    ...(endedAt == null ? undefined : { endedAt: new Date(Number(endedAt)) }),
    ...(firstFailureAt == null ? undefined : { firstFailureAt: new Date(Number(firstFailureAt)) }),
  }
}

function failuresOf(text: string | null | undefined): readonly FailureRecord[] {
  if (text == null) return []
  const records = JSON.parse(text) as readonly { n: number; c: string; k: string; t: number }[]
  return records.map(({ n, c, k, t }) => ({
    attempt: n,
    category: failureCategories.find((category) => category === c) ?? 'UNKNOWN',
    code: k,
    at: new Date(t),
  }))
}
