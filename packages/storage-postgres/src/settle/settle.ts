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
  const doing = 'settle messages'
  const single: Run = (text, values) => database.run(doing, text, values)
  const leases = successesOfOneOwner(outcomes)
  if (leases !== undefined) {
    const applied = await settleSucceeded(single, axis, leases)
    return applied === 'all' ? leases.map(() => 'applied') : answers(outcomes, new Set(applied))
  }
  const given = new Map(outcomes.toReversed().map((outcome) => [leaseKey(outcome.lease), outcome]))
  const succeeded: Lease[] = []
  const failed: Failed[] = []
  for (const outcome of given.values()) {
    if (outcome.kind === 'succeeded') succeeded.push(outcome.lease)
    else failed.push(outcome)
  }
  const parts: ((run: Run) => Promise<readonly string[]>)[] = [
    ...byOwner(succeeded, (lease) => lease).map((group) => async (run: Run) => {
      const stood = await settleSucceeded(run, axis, group)
      return stood === 'all' ? group.map(leaseKey) : stood
    }),
    ...byOwner(failed, ({ lease }) => lease).map((group) => (run: Run) => settleFailed(run, axis, group)),
  ]
  const inTurn = async (run: Run): Promise<string[]> => {
    const applied: string[] = []
    for (const part of parts) applied.push(...(await part(run)))
    return applied
  }
  const together = async (run: Run): Promise<string[]> => {
    await lockInOrder(
      run,
      axis,
      [...given.values()].map((outcome) => outcome.lease),
    )
    return inTurn(run)
  }
  const stood = await (parts.length > 1 ? database.transaction(doing, together) : inTurn(single))
  return answers(outcomes, new Set(stood))
}

/** Each part locks its rows in the order of all; two in one transaction need all of them in that order first. */
async function lockInOrder(run: Run, axis: AxisNames, leases: readonly Lease[]): Promise<void> {
  await run(`select q.seq from ${axis.queue} q where q.seq = any ($1::bigint[]) order by q.seq for update`, [
    leaseArrays(leases).sequences,
  ])
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
async function settleSucceeded(
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
