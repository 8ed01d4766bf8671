import { errorType } from '../errors/error-type.ts'
import { silentLogger, type Logger } from './logger.ts'
import { ignoreRejection } from '../time/ignore-rejection.ts'
import { noTelemetry, type Span, type Telemetry } from './telemetry.ts'

/** Runs a call into code of the application that must not matter: what it throws or rejects with is reported once. */
type Guard = <T>(call: () => T) => T | undefined

/** A port as untyped code implements it: what returns nothing may return a promise. */
type Answering<T> = {
  readonly [K in keyof T]: T[K] extends (...args: infer A) => infer R
    ? (...args: A) => [R] extends [void] ? unknown : R
    : T[K]
}

/**
 * A logger that never throws. A line that the given one cannot write is lost; the first time a warning of the process
 * says so, since there is no other place left to say it.
 */
export function isolateLogger(given: Logger): Logger {
  if (given === silentLogger || isIsolated(given)) return given
  const logger: Answering<Logger> = given
  const guarded = createGuard('logger')
  const level = (name: keyof Logger): Logger['info'] => {
    return (message, fields) => {
      guarded(() => {
        // Not every caller has fields, and loggers may look at how many arguments they get.
        if (fields === undefined) return logger[name](message)
        return logger[name](message, fields)
      })
    }
  }
  return branded({
    debug: level('debug'),
    info: level('info'),
    warn: level('warn'),
    error: level('error'),
  })
}

/** Telemetry that never throws, likewise: a measurement that the given one cannot take is lost. */
export function isolateTelemetry(given: Telemetry): Telemetry {
  if (given === noTelemetry || isIsolated(given)) return given
  const telemetry: Answering<Telemetry> = given
  const guarded = createGuard('telemetry')
  return branded<Telemetry>({
    count(...measurement) {
      guarded(() => telemetry.count(...measurement))
    },
    record(...measurement) {
      guarded(() => telemetry.record(...measurement))
    },
    observe(...gauge) {
      const unregister = guarded(() => telemetry.observe(...gauge))
      return () => {
        guarded(() => unregister?.())
      }
    },
    startSpan(...start) {
      const span = guarded(() => telemetry.startSpan(...start))
      return span === undefined ? noTelemetry.startSpan(...start) : isolateSpan(span, guarded)
    },
  })
}

/** Marks what is isolated, so that a part that is handed the ports of a whole does not wrap them again. */
const isolated = Symbol('isolated')

function branded<T extends object>(port: T): T {
  Object.defineProperty(port, isolated, { value: true })
  return Object.freeze(port)
}

function isIsolated(port: object): boolean {
  return isolated in port
}

function isolateSpan(span: Answering<Span>, guarded: Guard): Span {
  return {
    setAttributes(attributes) {
      guarded(() => span.setAttributes(attributes))
    },
    fail(type) {
      guarded(() => span.fail(type))
    },
    end() {
      guarded(() => span.end())
    },
  }
}

function createGuard(port: string): Guard {
  let reported = false
  const report = (error: unknown): void => {
    if (reported) return
    reported = true
    // Once: whatever fails here fails for every message.
    process.emitWarning(
      `the ${port} given to LiteBus failed (${errorType(error)}); further failures of it are not reported`,
      { code: 'LITEBUS_PORT_FAILED' },
    )
  }
  return (call) => {
    try {
      const result = call()
      // An async implementation of a port that returns nothing rejects where nobody waits.
      ignoreRejection(result, report)
      return result
    } catch (error) {
      report(error)
      return undefined
    }
  }
}
