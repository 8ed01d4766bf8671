import { sleep, type Clock } from '@litebus/core'

/** Keeps what is fetched ahead of its turn within bounds. */
export interface FlowControl {
  /**
   * Resolves when a partition may be fetched again. It waits a moment for room; where none comes, fetches of the
   * partition are stopped, so that it holds up no other one and no heartbeat.
   */
  hold(partition: number, waiting: () => number): Promise<void>
  /** Records left the lines: waits end and stopped partitions are fetched again where there is room. */
  drained(): void
  /** Forgets all partitions, after their assignment. */
  reset(): void
}

/** What flow control works with. */
export interface FlowControlOptions {
  /** Records of one partition that may wait here when it is fetched again. */
  readonly most: number
  /** How long a fetch may wait for room. */
  readonly waitMs: number
  /** Stops fetches of a partition. */
  readonly pause: (partition: number) => void
  /** Starts them again. */
  readonly resume: (partition: number) => void
  /** Time. */
  readonly clock: Clock
}

/** Nothing is held. */
export function createFlowControl({ most, waitMs, pause, resume, clock }: FlowControlOptions): FlowControl {
  const paused = new Map<number, () => number>()
  let change = new AbortController()

  const untilRoom = async (waiting: () => number): Promise<boolean> => {
    const deadline = clock.monotonic() + waitMs
    while (waiting() >= most) {
      const leftMs = deadline - clock.monotonic()
      if (leftMs <= 0) return false
      await sleep(clock, leftMs, change.signal)
    }
    return true
  }
  const changed = (): void => {
    change.abort()
    change = new AbortController()
  }

  return {
    async hold(partition, waiting) {
      if (await untilRoom(waiting)) return
      paused.set(partition, waiting)
      pause(partition)
    },
    drained() {
      changed()
      for (const [partition, waiting] of [...paused]) {
        if (waiting() * 2 > most) continue
        paused.delete(partition)
        resume(partition)
      }
    },
    reset() {
      paused.clear()
      changed()
    },
  }
}
