import { sleep, type Clock } from '@litebus/core'

/** Waits for work within a budget and rejects with `onLate` when it takes longer; what comes late is ignored. */
export async function withinBudget<T>(
  work: Promise<T>,
  {
    clock,
    budgetMs,
    onLate,
  }: { readonly clock: Clock; readonly budgetMs: number; readonly onLate: () => Error },
): Promise<T> {
  const waiting = new AbortController()
  const late = sleep(clock, budgetMs, waiting.signal).then((): never => {
    throw onLate()
  })
  late.catch(() => undefined)
  work.catch(() => undefined)
  try {
    return await Promise.race([work, late])
  } finally {
    waiting.abort()
  }
}
