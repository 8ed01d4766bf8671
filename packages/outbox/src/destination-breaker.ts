import { backoffDelayMs, type Clock } from '@litebus/core'
import {
  circuitBreaker,
  CircuitState,
  ConsecutiveBreaker,
  handleAll,
  type IBackoff,
  type IHalfOpenAfterBackoffContext,
} from 'cockatiel'
import type { ResolvedBreakerOptions } from './breaker-options.ts'

/**
 * Keeps messages away from one destination while its broker fails, and finds out by one probe when it works again.
 *
 * Outcomes come late: a publish may be answered after its destination broke, was probed and closed again. Each one
 * therefore names the generation in which it was admitted. The generation grows whenever the breaker breaks or closes,
 * and an outcome of an older one changes nothing.
 */
export interface DestinationBreaker {
  /** Generation in which messages are admitted now; undefined while none are. */
  readonly admitting: number | undefined
  /** True while open or half-open. */
  readonly open: boolean
  /** Failures in a row. */
  readonly failureCount: number
  /** Milliseconds until messages may go; 0 when they may. Probes when the time for it has come. */
  waitMs(): Promise<number>
  /** Whether the destination can be reached: asks it while closed, and keeps to the times of the probes while open. */
  reachable(): Promise<boolean>
  /** The broker answered. */
  succeeded(generation: number): void
  /** The broker failed; answers the milliseconds to wait before the message is tried again. */
  failed(generation: number): Promise<number>
}

/** What a breaker works with. */
export interface DestinationBreakerOptions extends ResolvedBreakerOptions {
  /** Resolves when the destination can be used. */
  readonly probe: () => Promise<void>
  /** Called when it breaks and when it closes. */
  readonly onChange: (open: boolean) => void
  /** Time. */
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
}

type Backoff = IBackoff<IHalfOpenAfterBackoffContext>

/** Starts closed. */
export function createDestinationBreaker(options: DestinationBreakerOptions): DestinationBreaker {
  const { clock, random, waits } = options
  const counter = new ConsecutiveBreaker(options.failureThreshold)
  let generation = 1
  let isOpen = false
  let probeAt = 0
  let asking: Promise<boolean> | undefined

  // The library counts its breaks by the time of day, which jumps. It is told that each break is over at once, and
  // executes nothing before the monotonic clock says so.
  const backoff: Backoff = {
    duration: Number.NEGATIVE_INFINITY,
    next({ attempt }) {
      probeAt = clock.monotonic() + backoffDelayMs(attempt, waits, random)
      return backoff
    },
  }
  const policy = circuitBreaker(handleAll, { breaker: counter, halfOpenAfter: backoff })
  policy.onStateChange((state) => {
    if (state === CircuitState.HalfOpen) return
    if (isOpen === (state === CircuitState.Open)) return
    isOpen = !isOpen
    generation += 1
    options.onChange(isOpen)
  })

  /** True when it did not throw; what it threw is the library's to count. */
  const execute = (work: () => Promise<void>): Promise<boolean> =>
    policy.execute(work).then(
      () => true,
      () => false,
    )
  /** Many messages want to know at once: one question answers all of them. */
  const ask = (question: () => Promise<boolean>): Promise<boolean> =>
    (asking ??= question().finally(() => {
      asking = undefined
    }))
  /** After an await it may have changed. */
  const isBroken = (): boolean => isOpen
  const leftMs = (): number => Math.max(0, Math.ceil(probeAt - clock.monotonic()))
  const waitMs = async (): Promise<number> => {
    if (!isOpen) return 0
    if (leftMs() > 0) return leftMs()
    await ask(() => execute(options.probe))
    return isBroken() ? Math.max(1, leftMs()) : 0
  }

  return {
    get admitting() {
      return isOpen ? undefined : generation
    },
    get open() {
      return isOpen
    },
    get failureCount() {
      return counter.state
    },
    waitMs,
    async reachable() {
      if (isOpen) return (await waitMs()) === 0
      return ask(() =>
        options.probe().then(
          () => true,
          () => false,
        ),
      )
    },
    succeeded(admitted) {
      // Almost always there is nothing to forget, and the library need not be asked for every message.
      if (admitted === generation && counter.state > 0) void execute(() => Promise.resolve())
    },
    async failed(admitted) {
      if (admitted === generation) await execute(() => Promise.reject(new Error('the broker failed')))
      if (isBroken()) return Math.max(1, leftMs())
      return Math.ceil(backoffDelayMs(Math.max(1, counter.state), waits, random))
    },
  }
}
