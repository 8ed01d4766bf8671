import { errorType, type Clock, type Logger } from '@litebus/core'

/** Logs trouble that comes again and again: each change of state once, the same trouble at most every 10 s. */
export interface TroubleLog {
  /** Something failed; the kind of error is logged, never its text. */
  failed(what: string, error: unknown): void
  /** It works again. */
  recovered(what: string): void
  /** What fails now. */
  readonly current: readonly string[]
}

const repeatMs = 10_000

/** Starts without trouble. */
export function createTroubleLog(logger: Logger, clock: Clock, processor: string): TroubleLog {
  const loggedAt = new Map<string, number>()
  return {
    get current() {
      return [...loggedAt.keys()]
    },
    failed(what, error) {
      const now = clock.monotonic()
      const last = loggedAt.get(what)
      if (last !== undefined && now - last < repeatMs) return
      loggedAt.set(what, now)
      logger.error(`${what} failed`, { processor, error: errorType(error) })
    },
    recovered(what) {
      if (!loggedAt.delete(what)) return
      logger.info(`${what} works again`, { processor })
    },
  }
}
