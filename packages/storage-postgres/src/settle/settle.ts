import { failureCode, storeLimits, type Lease, type SettleOutcome, type SettleResult } from '@litebus/core'
import type { Database, Run } from '../database/database.ts'
import type { AxisNames } from '../schema/names.ts'
import { byOwner, leaseArrays, leaseKey } from './lease-arrays.ts'

type Failed = Exclude<SettleOutcome, { readonly kind: 'succeeded' }>

/** Records outcomes: one statement when all succeeded or all failed, else two that run side by side. */
export async function settle(
  database: Database,
  axis: AxisNames,
  outcomes: readonly SettleOutcome[],
): Promise<readonly SettleResult[]> {
  const run: Run = (text, values) => database.run('settle messages', text, values)
  const leases = successesOfOneOwner(outcomes)
  if (leases !== undefined) {
    const applied = await settleSucceeded(run, axis, leases)
    return applied === 'all' ? leases.map(() => 'applied') : answers(outcomes, new Set(applied))
  }
  const given = new Map(outcomes.toReversed().map((outcome) => [leaseKey(outcome.lease), outcome]))
  const succeeded: Lease[] = []
  const failed: Failed[] = []
  for (const outcome of given.values()) {
    if (outcome.kind === 'succeeded') succeeded.push(outcome.lease)
    else failed.push(outcome)
  }
  const applied = await Promise.all([
    ...byOwner(succeeded, (lease) => lease).map(async (group) => {
      const stood = await settleSucceeded(run, axis, group)
      return stood === 'all' ? group.map(leaseKey) : stood
    }),
    ...byOwner(failed, ({ lease }) => lease).map((group) => settleFailed(run, axis, group)),
  ])
  return answers(outcomes, new Set(applied.flat()))
}

/** The leases of outcomes that one statement records, as it nearly always is; else undefined. */
function successesOfOneOwner(outcomes: readonly SettleOutcome[]): readonly Lease[] | undefined {
  const owner = outcomes[0]?.lease.owner
  return outcomes.every(({ kind, lease }) => kind === 'succeeded' && lease.owner === owner)
    ? outcomes.map(({ lease }) => lease)
    : undefined
}

/** The first of two slots with one lease has it; deleting leaves nothing for the second. */
function answers(outcomes: readonly SettleOutcome[], stood: Set<string>): readonly SettleResult[] {
  return outcomes.map(({ lease }) => (stood.delete(leaseKey(lease)) ? 'applied' : 'leaseLost'))
}

/** Records successes of one owner; answers the keys of the leases that stood, or that all of them did. */
export async function settleSucceeded(
  run: Run,
  axis: AxisNames,
  leases: readonly Lease[],
): Promise<readonly string[] | 'all'> {
  const { sequences, generations, owner } = leaseArrays(leases)
  const [row] = await run(`select ${axis.fn('settle_succeeded')}($1, $2, $3)`, [
    sequences,
    generations,
    owner,
  ])
  return row?.[0] === '*' ? 'all' : appliedOf(row?.[0], leases)
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
  if (answer == null || answer === '') return []
  const owner = leases[0]?.owner ?? ''
  return answer.split(',').map((pair) => `${pair}:${owner}`)
}

/** A delay that the database takes: finite, not negative. */
export function boundedDelay(delayMs: number): number {
  return delayMs > 0 ? Math.min(delayMs, storeLimits.delayMs) : 0
}
