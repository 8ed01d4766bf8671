import type { Logger } from '@litebus/core'
import type { Host } from '@litebus/host'

/** Runs a host until SIGTERM or SIGINT and sets the exit code: 0 when everything ended by itself or was told to. */
export async function runService(host: Host, logger: Logger): Promise<void> {
  try {
    const { outcome, elapsedMs } = await host.run()
    logger.info('stopped', { outcome, elapsedMs: Math.round(elapsedMs) })
    process.exitCode = outcome === 'graceful' || outcome === 'forced' ? 0 : 1
  } catch (error) {
    logger.error('could not start', { error: error instanceof Error ? error.message : String(error) })
    process.exitCode = 1
  }
  // Whatever did not end in time must not keep the process alive either.
  setTimeout(() => process.exit(), 1000).unref()
}
