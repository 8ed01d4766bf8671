/** Structured values of one log line. Never payloads, header values, credentials or error text from handlers. */
export type LogFields = Readonly<Record<string, string | number | boolean | undefined>>

/** Where log lines go. Every line has a stable `eventId` where the documentation names one. */
export interface Logger {
  /** Detail for developers. */
  debug(message: string, fields?: LogFields): void
  /** A change of state. */
  info(message: string, fields?: LogFields): void
  /** Something an operator may want to look at. */
  warn(message: string, fields?: LogFields): void
  /** Something an operator has to look at. */
  error(message: string, fields?: LogFields): void
}

/** A logger that drops everything: the default. */
export const silentLogger: Logger = Object.freeze({
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
})
