import { backoffDelayMs, type Clock } from '@litebus/core'

/** Keeps messages away from destinations that cannot be reached, and finds out when they can be again. */
export interface DestinationGate {
  /** Milliseconds to wait before the destination is tried again; 0 when it is open. Probes it when the time has come. */
  waitMs(destination: string): Promise<number>
  /** The destination could not be reached: closes it; answers the milliseconds to wait. */
  close(destination: string): number
  /** Asks the broker whether the destination can be reached, whatever the gate thinks. */
  probe(destination: string): Promise<boolean>
}

/** What a gate works with. */
export interface DestinationGateOptions {
  /** Resolves when the destination can be used. */
  readonly probe: (destination: string) => Promise<void>
  /** Called for each change of state. */
  readonly onChange: (destination: string, open: boolean) => void
  /** Time. */
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
}

interface Closed {
  failures: number
  until: number
  probing: Promise<boolean> | undefined
}

const waits = { initialDelayMs: 500, multiplier: 2, maxDelayMs: 15_000, jitter: 'equal' } as const

/** Starts with every destination open. */
export function createDestinationGate({
  probe,
  onChange,
  clock,
  random,
}: DestinationGateOptions): DestinationGate {
  const closed = new Map<string, Closed>()

  const close = (destination: string): number => {
    const state = closed.get(destination) ?? { failures: 0, until: 0, probing: undefined }
    if (!closed.has(destination)) {
      closed.set(destination, state)
      onChange(destination, false)
    }
    const now = clock.monotonic()
    // Many messages find out together; only the first of them prolongs the wait.
    if (state.until <= now) {
      state.failures += 1
      state.until = now + backoffDelayMs(state.failures, waits, random)
    }
    return Math.ceil(state.until - now)
  }
  const ask = async (destination: string): Promise<boolean> => {
    try {
      await probe(destination)
      return true
    } catch {
      return false
    }
  }
  return {
    close,
    probe: ask,
    async waitMs(destination) {
      const state = closed.get(destination)
      if (state === undefined) return 0
      const left = state.until - clock.monotonic()
      if (left > 0) return Math.ceil(left)
      state.probing ??= ask(destination)
      const reachable = await state.probing
      state.probing = undefined
      if (!reachable) return close(destination)
      if (closed.delete(destination)) onChange(destination, true)
      return 0
    },
  }
}
