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
  const asking = new Map<string, Promise<boolean>>()

  const close = (destination: string): number => {
    const state = closed.get(destination) ?? { failures: 0, until: 0 }
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
  const probed = async (destination: string): Promise<boolean> => {
    try {
      await probe(destination)
      return true
    } catch {
      return false
    }
  }
  /** Many messages want to know at once: one question answers all of them. */
  const ask = async (destination: string): Promise<boolean> => {
    const asked = asking.get(destination) ?? probed(destination)
    asking.set(destination, asked)
    const reachable = await asked
    if (asking.get(destination) === asked) asking.delete(destination)
    return reachable
  }
  return {
    close,
    probe: ask,
    async waitMs(destination) {
      const state = closed.get(destination)
      if (state === undefined) return 0
      const left = state.until - clock.monotonic()
      if (left > 0) return Math.ceil(left)
      if (!(await ask(destination))) return close(destination)
      if (closed.delete(destination)) onChange(destination, true)
      return 0
    },
  }
}
