import { sleep, type Clock } from '@litebus/core'

/** How something with a deadline ended. */
export type TimedResult<T> =
  | { readonly status: 'done'; readonly value: T }
  | { readonly status: 'failed'; readonly error: unknown }
  | { readonly status: 'late' }

/** Runs something within a limit. Never rejects; what comes late is ignored. */
export async function within<T>(
  clock: Clock,
  limitMs: number,
  work: () => Promise<T> | T,
): Promise<TimedResult<T>> {
  const waiting = new AbortController()
  const run = async (): Promise<TimedResult<T>> => {
    try {
      return { status: 'done', value: await work() }
    } catch (error) {
      return { status: 'failed', error }
    }
  }
  const late = sleep(clock, limitMs, waiting.signal).then((): TimedResult<T> => ({ status: 'late' }))
  const result = await Promise.race([run(), late])
  waiting.abort()
  return result
}
