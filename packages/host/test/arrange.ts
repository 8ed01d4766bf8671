import { manualClock, type ManualClock } from '@litebus/conformance'
import type { LogFields, Logger } from '@litebus/core'
import { createHost, type Host, type HostedPart, type HostOptions } from '../src/index.ts'

export interface Bench {
  readonly clock: ManualClock
  /** What happened to the parts, in order. */
  readonly events: string[]
  readonly logged: { readonly message: string; readonly fields: LogFields }[]
  /** A part that notes its start and its stop; hooks come after the note. */
  readonly part: (name: string, hooks?: Omit<HostedPart, 'name'>) => HostedPart
  readonly host: (parts: readonly HostedPart[], options?: Partial<HostOptions>) => Host
}

export function bench(): Bench {
  const clock = manualClock()
  const events: string[] = []
  const logged: Bench['logged'] = []
  const log = (message: string, fields: LogFields = {}): void => {
    logged.push({ message, fields })
  }
  const logger: Logger = { debug: log, info: log, warn: log, error: log }
  return {
    clock,
    events,
    logged,
    part: (name, hooks = {}) => ({
      ...hooks,
      name,
      start() {
        events.push(`start ${name}`)
        return hooks.start?.()
      },
      stop(budget) {
        events.push(`stop ${name}`)
        return hooks.stop?.(budget)
      },
    }),
    host: (parts, options = {}) => createHost({ parts, clock, logger, exitAfterMs: false, ...options }),
  }
}

export const forever = (): Promise<never> => new Promise(() => undefined)
