import type { Clock } from '../ports/clock.ts'

/** Resolves after `delayMs`, or as soon as the signal aborts; it leaves no listener behind and never rejects. */
export function sleep(clock: Clock, delayMs: number, signal?: AbortSignal): Promise<void> {
  if (signal?.aborted === true) return Promise.resolve()
  return new Promise((resolve) => {
    const finish = (): void => {
      timer.cancel()
      signal?.removeEventListener('abort', finish)
      resolve()
    }
    const timer = clock.schedule(delayMs, finish)
    signal?.addEventListener('abort', finish, { once: true })
  })
}
