import type { Logger } from '@litebus/core'

/**
 * Gives the process its exit code, and ends it when something still keeps it alive after a while. The timer itself
 * keeps nothing alive: a process that has nothing left to do ends at once.
 */
export function endProcess(
  succeeded: boolean,
  { exitAfterMs, logger }: { readonly exitAfterMs: number | false; readonly logger: Logger },
): void {
  if (!succeeded) process.exitCode ??= 1
  if (exitAfterMs === false) return
  setTimeout(() => {
    const resources = [...new Set(process.getActiveResourcesInfo())].join(' ')
    logger.warn('something keeps the process alive after its parts have stopped: it is ended', { resources })
    process.exit()
  }, exitAfterMs).unref()
}
