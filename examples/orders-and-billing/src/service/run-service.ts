import type { Logger } from '@litebus/core'
import type { Host } from '@litebus/host'

/** Runs a host until SIGTERM or SIGINT. The exit code is 1 when it could not start, or something did not end in time. */
export async function runService(host: Host, logger: Logger): Promise<void> {
  try {
    const { outcome, elapsedMs } = await host.run()
    logger.info('stopped', { outcome, elapsedMs: Math.round(elapsedMs) })
  } catch (error) {
    logger.error('could not start', { error: error instanceof Error ? error.message : String(error) })
    process.exitCode = 1
  }
}
