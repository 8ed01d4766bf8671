import type { Clock } from '@litebus/core'

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
  const waits = new Set<{ readonly waiting: () => number; readonly end: () => void }>()

  const hasRoom = (waiting: () => number): boolean => waiting() < most

  /** True when there was room before the time was up. */
  const untilRoom = (waiting: () => number): Promise<boolean> => {
    if (hasRoom(waiting)) return Promise.resolve(true)
    return new Promise((resolve) => {
      const end = (): void => {
        waits.delete(wait)
        timer.cancel()
        resolve(hasRoom(waiting))
      }
      const wait = { waiting, end }
      const timer = clock.schedule(waitMs, end)
      waits.add(wait)
    })
  }

  return {
    async hold(partition, waiting) {
      if (await untilRoom(waiting)) return
      paused.set(partition, waiting)
      pause(partition)
    },
    drained() {
      for (const { waiting, end } of [...waits]) if (hasRoom(waiting)) end()
      for (const [partition, waiting] of [...paused]) {
        if (waiting() * 2 > most) continue
        paused.delete(partition)
        resume(partition)
      }
    },
    reset() {
      paused.clear()
      for (const { end } of [...waits]) end()
    },
  }
}
