import { failureCode, storeLimits, type SettleOutcome, type SettleResult } from '@litebus/core'
import type { Database, Run } from '../database/database.ts'
import type { AxisNames } from '../schema/names.ts'
import { leaseArrays, leaseKey } from './lease-arrays.ts'

type Succeeded = Extract<SettleOutcome, { readonly kind: 'succeeded' }>
type Failed = Exclude<SettleOutcome, Succeeded>

/** Records outcomes: one statement when all succeeded or all failed, else two that run side by side. */
export async function settle(
  database: Database,
  axis: AxisNames,
  outcomes: readonly SettleOutcome[],
): Promise<readonly SettleResult[]> {
  const seen = new Set<string>()
  const first = outcomes.map(({ lease }) => {
    const key = leaseKey(lease)
    const isFirst = !seen.has(key)
    seen.add(key)
    return isFirst
  })
  const given = outcomes.filter((_, index) => first[index])
  const succeeded = given.filter((outcome) => outcome.kind === 'succeeded')
  const failed = given.filter((outcome) => outcome.kind !== 'succeeded')
  const run: Run = (text, values) => database.run('settle messages', text, values)
  const [a, b] = await Promise.all([
    succeeded.length === 0 ? allApplied : settleSucceeded(run, axis, succeeded),
    failed.length === 0 ? allApplied : settleFailed(run, axis, failed),
  ])
  return outcomes.map(({ kind, lease }, index) => {
    const applied = kind === 'succeeded' ? a : b
    return first[index] === true && applied.has(lease.sequence) ? 'applied' : 'leaseLost'
  })
}

interface Applied {
  has(sequence: string): boolean
}

const allApplied: Applied = { has: () => true }

/** Records successes; answers which applied. */
export async function settleSucceeded(
  run: Run,
  axis: AxisNames,
  outcomes: readonly Succeeded[],
): Promise<Applied> {
  const { sequences, generations, owners } = leaseArrays(outcomes.map((outcome) => outcome.lease))
  const [row] = await run(`select ${axis.fn('settle_succeeded')}($1, $2, $3)`, [
    sequences,
    generations,
    owners,
  ])
  return appliedOf(row?.[0])
}

async function settleFailed(run: Run, axis: AxisNames, outcomes: readonly Failed[]): Promise<Applied> {
  const { sequences, generations, owners } = leaseArrays(outcomes.map((outcome) => outcome.lease))
  const [row] = await run(`select ${axis.fn('settle_failed')}($1, $2, $3, $4, $5, $6)`, [
    sequences,
    generations,
    owners,
    outcomes.map((outcome) => (outcome.kind === 'retry' ? boundedDelay(outcome.delayMs) : null)),
    outcomes.map((outcome) => outcome.category),
    outcomes.map((outcome) => failureCode(outcome.code)),
  ])
  return appliedOf(row?.[0])
}

function appliedOf(answer: string | null | undefined): Applied {
  return answer === '*' ? allApplied : new Set((answer ?? '').split(','))
}

/** A delay that the database takes: finite, not negative. */
export function boundedDelay(delayMs: number): number {
  return delayMs > 0 ? Math.min(delayMs, storeLimits.delayMs) : 0
}
