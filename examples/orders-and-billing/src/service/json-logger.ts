import type { LogFields, Logger } from '@litebus/core'

/** One JSON object a line on standard output. */
export function jsonLogger(service: string): Logger {
  // Whoever reads the log may go away: that is no reason to stop taking orders.
  process.stdout.on('error', () => undefined)
  const write =
    (level: string) =>
    (message: string, fields: LogFields = {}): void => {
      process.stdout.write(
        `${JSON.stringify({ time: new Date().toISOString(), level, service, message, ...fields })}\n`,
      )
    }
  return { debug: () => undefined, info: write('info'), warn: write('warn'), error: write('error') }
}
