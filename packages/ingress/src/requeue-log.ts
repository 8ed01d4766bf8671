import { errorType, IngressAckPolicy, type Clock, type Logger } from '@litebus/core'

/** Tells that deliveries go back by policy: each kind of failure once, then at most every 10 s. */
export interface RequeueLog {
  /** A delivery goes back because of this; the kind of error is logged, never its text. */
  wentBack(error: unknown): void
}

const repeatMs = 10_000
/** Kinds of errors that are remembered: they are names in code, so that there are few of them. */
const maxKinds = 100

/** Starts with nothing told. */
export function createRequeueLog(options: {
  readonly source: string
  readonly logger: Logger
  readonly clock: Clock
}): RequeueLog {
  const { source, logger, clock } = options
  const told = new Map<string, number>()
  return {
    wentBack(cause) {
      const error = errorType(IngressAckPolicy.unwrapException(cause))
      const now = clock.monotonic()
      const last = told.get(error)
      if (last !== undefined && now - last < repeatMs) return
      if (told.size >= maxKinds) told.clear()
      told.set(error, now)
      logger.warn('deliveries go back: they failed in a way that may pass', { source, error })
    },
  }
}
