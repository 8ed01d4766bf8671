import { failureCode, storeLimits, type Lease, type SettleOutcome, type SettleResult } from '@litebus/core'
import type { Database, Run } from '../database/database.ts'
import type { AxisNames } from '../schema/names.ts'
import { byOwner, leaseArrays, leaseKey } from './lease-arrays.ts'

type Failed = Exclude<SettleOutcome, { readonly kind: 'succeeded' }>

/**
 * Records outcomes: one statement when all succeeded or all failed. A mixture takes one transaction around two: a call
 * that fails has then recorded nothing, and telling it again does not find half of its leases gone.
 */
export async function settle(
  database: Database,
  axis: AxisNames,
  outcomes: readonly SettleOutcome[],
): Promise<readonly SettleResult[]> {
  const given = new Map(outcomes.toReversed().map((outcome) => [leaseKey(outcome.lease), outcome]))
  const succeeded: Lease[] = []
  const failed: Failed[] = []
  for (const outcome of given.values()) {
    if (outcome.kind === 'succeeded') succeeded.push(outcome.lease)
    else failed.push(outcome)
  }
  const parts: ((run: Run) => Promise<readonly string[]>)[] = [
    ...byOwner(succeeded, (lease) => lease).map((leases) => (run: Run) => settleSucceeded(run, axis, leases)),
    ...byOwner(failed, ({ lease }) => lease).map((group) => (run: Run) => settleFailed(run, axis, group)),
  ]
  const doing = 'settle messages'
  const single: Run = (text, values) => database.run(doing, text, values)
  const inTurn = async (run: Run): Promise<string[]> => {
    const applied: string[] = []
    for (const part of parts) applied.push(...(await part(run)))
    return applied
  }
  const together = async (run: Run): Promise<string[]> => {
    const leases = [...given.values()].map((outcome) => outcome.lease)
    await lockInOrder(run, axis, leases)
    return inTurn(run)
  }
  const keys = new Set(await (parts.length > 1 ? database.transaction(doing, together) : inTurn(single)))
  // The first of two slots with one lease has it; deleting leaves nothing for the second.
  return outcomes.map(({ lease }) => (keys.delete(leaseKey(lease)) ? 'applied' : 'leaseLost'))
}

/** Each part locks its rows in the order of all; two in one transaction need all of them in that order first. */
async function lockInOrder(run: Run, axis: AxisNames, leases: readonly Lease[]): Promise<void> {
  await run(`select q.seq from ${axis.queue} q where q.seq = any ($1::bigint[]) order by q.seq for update`, [
    leases.map((lease) => lease.sequence),
  ])
}

/** Records successes of one owner; answers the keys of the leases that stood. */
export async function settleSucceeded(
  run: Run,
  axis: AxisNames,
  leases: readonly Lease[],
): Promise<readonly string[]> {
  const { sequences, generations, owner } = leaseArrays(leases)
  const [row] = await run(`select ${axis.fn('settle_succeeded')}($1, $2, $3)`, [
    sequences,
    generations,
    owner,
  ])
  return appliedOf(row?.[0], leases)
}

async function settleFailed(
  run: Run,
  axis: AxisNames,
  outcomes: readonly Failed[],
): Promise<readonly string[]> {
  const leases = outcomes.map((outcome) => outcome.lease)
  const { sequences, generations, owner } = leaseArrays(leases)
  const [row] = await run(`select ${axis.fn('settle_failed')}($1, $2, $3, $4, $5, $6)`, [
    sequences,
    generations,
    owner,
    outcomes.map((outcome) => (outcome.kind === 'retry' ? boundedDelay(outcome.delayMs) : null)),
    outcomes.map((outcome) => outcome.category),
    outcomes.map((outcome) => failureCode(outcome.code)),
  ])
  return appliedOf(row?.[0], leases)
}

function appliedOf(answer: string | null | undefined, leases: readonly Lease[]): readonly string[] {
  if (answer === '*') return leases.map(leaseKey)
  if (answer == null || answer === '') return []
  const owner = leases[0]?.owner ?? ''
  return answer.split(',').map((pair) => `${pair}:${owner}`)
}

/** A delay that the database takes: finite, not negative. */
export function boundedDelay(delayMs: number): number {
  return delayMs > 0 ? Math.min(delayMs, storeLimits.delayMs) : 0
}
