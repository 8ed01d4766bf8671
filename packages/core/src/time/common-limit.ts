import type { Clock, Timer } from '../ports/clock.ts'

/** Bounds many waits of the same length by one timer, where a timer for each would cost more than what is waited for. */
export interface CommonLimit<Otherwise> {
  /** Resolves as the work does, or with the other value when it rejects or takes longer. */
  within<T>(work: Promise<T>): Promise<T | Otherwise>
}

/** A limit in milliseconds; `otherwise` is answered for what takes longer. */
export function createCommonLimit<Otherwise>(
  clock: Clock,
  limitMs: number,
  otherwise: Otherwise,
): CommonLimit<Otherwise> {
  /** In the order of their ends, since all of them last equally long. */
  const waits = new Set<Wait<Otherwise>>()
  let timer: Timer | undefined

  const look = (): void => {
    timer = undefined
    const now = clock.monotonic()
    for (const wait of waits) {
      if (wait.endsAtMs > now) {
        timer = clock.schedule(wait.endsAtMs - now, look)
        return
      }
      waits.delete(wait)
      wait.resolve(otherwise)
    }
  }
  const ended = (wait: Wait<Otherwise>): void => {
    waits.delete(wait)
    if (waits.size > 0) return
    timer?.cancel()
    timer = undefined
  }
  return {
    within: (work) =>
      new Promise((resolve) => {
        const wait: Wait<Otherwise> = { endsAtMs: clock.monotonic() + limitMs, resolve }
        waits.add(wait)
        timer ??= clock.schedule(limitMs, look)
        Promise.resolve(work).then(
          (value) => {
            ended(wait)
            resolve(value)
          },
          () => {
            ended(wait)
            resolve(otherwise)
          },
        )
      }),
  }
}

interface Wait<Otherwise> {
  readonly endsAtMs: number
  readonly resolve: (otherwise: Otherwise) => void
}
