import type { StoreSuiteOptions } from '../store-fixture.ts'
import type { StoreCase } from '../support.ts'
import { runChecker, type CheckerPlan } from '../checker/run-checker.ts'

const plans: readonly { readonly title: string; readonly plan: Omit<CheckerPlan, 'durationMs' | 'seed'> }[] =
  [
    {
      title: 'holds with few keys, late commits, retries in the middle of a key, and workers that race',
      plan: { keys: 2, workers: 6, producers: 8, leaseMs: 60_000, handlingMs: 15, backlog: 6, deaths: false },
    },
    {
      title: 'holds with many keys',
      plan: {
        keys: 400,
        workers: 4,
        producers: 6,
        leaseMs: 60_000,
        handlingMs: 5,
        backlog: 300,
        deaths: false,
      },
    },
    {
      title: 'holds while workers die and leases expire',
      plan: { keys: 5, workers: 4, producers: 4, leaseMs: 400, handlingMs: 5, backlog: 300, deaths: true },
    },
  ]

/**
 * The randomized checker: no two runs of a key at once among unexpired leases, happens-before order within a key,
 * nothing lost, duplicates only where a lease expired.
 */
export function checkerCases(options: StoreSuiteOptions): readonly StoreCase[] {
  const durationMs = options.checkerMs ?? 3000
  return plans.map(({ title, plan }) => ({
    concern: 'randomized checker',
    title,
    needs: { capability: 'callersTransactions', met: (capabilities) => capabilities.callersTransactions },
    timeoutMs: durationMs + 60_000,
    run: (fixture) => runChecker(fixture, { ...plan, durationMs, seed: options.seed ?? Date.now() }),
  }))
}
