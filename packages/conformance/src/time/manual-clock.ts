import type { Clock } from '@litebus/core'

/** A clock that stands still until a test moves it. */
export interface ManualClock extends Clock {
  /** Moves time on and fires what is due in order; lets everything that was started settle after each timer. */
  advance(ms: number): Promise<void>
}

interface Entry {
  readonly at: number
  readonly callback: () => void
}

/** Builds a clock that starts at `startMs`, milliseconds since the epoch. */
export function manualClock(startMs: number = Date.UTC(2026, 0, 1)): ManualClock {
  let nowMs = 0
  const timers = new Set<Entry>()
  const nextUntil = (end: number): Entry | undefined => {
    let next: Entry | undefined
    for (const entry of timers)
      if (entry.at <= end && (next === undefined || entry.at < next.at)) next = entry
    return next
  }
  return {
    now: () => startMs + nowMs,
    monotonic: () => nowMs,
    schedule(delayMs, callback) {
      const entry = { at: nowMs + Math.max(0, delayMs), callback }
      timers.add(entry)
      return {
        cancel: () => {
          timers.delete(entry)
        },
      }
    },
    async advance(ms) {
      const end = nowMs + ms
      await settle()
      for (let entry = nextUntil(end); entry !== undefined; entry = nextUntil(end)) {
        timers.delete(entry)
        nowMs = Math.max(nowMs, entry.at)
        entry.callback()
        await settle()
      }
      nowMs = end
      await settle()
    },
  }
}

/** A few turns of the event loop: enough for chains of promises that do no I/O. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}
