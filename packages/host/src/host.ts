import { errorType, InvalidOperationError } from '@litebus/core'
import { resolveHostOptions, type HostedPart, type HostOptions } from './host-options.ts'
import { endProcess } from './end-process.ts'
import { stopShareMs } from './stop-share.ts'
import { within } from './within.ts'

/** How one part stopped. */
export interface PartReport {
  /** Name of the part. */
  readonly name: string
  /** `stopped` in time, `late`: it did not end within its budget, `failed`: it threw. */
  readonly status: 'stopped' | 'late' | 'failed'
  /** Milliseconds that it took. */
  readonly elapsedMs: number
  /** What the part itself reported. */
  readonly report?: unknown
  /** Code or class of the error of a failed part. */
  readonly error?: string
}

/** How a stop went; written once. */
export interface ShutdownReport {
  /**
   * `graceful`: everything ended by itself; `forced`: everything ended, something only after it was aborted;
   * `failed`: a part threw; `incomplete`: a part did not end within the budget, or reports work that did not.
   */
  readonly outcome: 'graceful' | 'forced' | 'failed' | 'incomplete'
  /** Milliseconds in all. */
  readonly elapsedMs: number
  /** Parts in the order in which they were stopped. */
  readonly parts: readonly PartReport[]
}

/** Health of one part, or of all. */
export interface HealthReport {
  /** `up` while every part can do its work. */
  readonly status: 'up' | 'down'
  /** Parts with a probe. */
  readonly parts: readonly {
    readonly name: string
    readonly status: 'up' | 'down'
    readonly error?: string
  }[]
}

/** Starts parts in order and stops them in the opposite order. */
export interface Host extends AsyncDisposable {
  /**
   * Starts all parts. When one fails, those that were started are stopped, and its error is thrown.
   *
   * @throws InvalidOperationError when the host is or gets stopped.
   */
  start(): Promise<void>
  /** Stops all parts within one absolute deadline. Idempotent: every call gets the same report. */
  stop(): Promise<ShutdownReport>
  /** Probes all parts at once. */
  health(): Promise<HealthReport>
  /**
   * Starts, waits for one of the signals, also while it starts, and stops. A second signal changes nothing: the
   * deadline stands. The exit code of the process is 1 when a part failed or left work behind; what keeps the process
   * alive after that is given `exitAfterMs`.
   */
  run(signals?: readonly NodeJS.Signals[]): Promise<ShutdownReport>
}

/**
 * Builds a host.
 *
 * @throws OptionsError naming every fault.
 */
export function createHost(given: HostOptions): Host {
  const options = resolveHostOptions(given)
  const { parts, clock, logger } = options
  const started: HostedPart[] = []
  let starting: Promise<void> | undefined
  let stopped: Promise<ShutdownReport> | undefined

  const start = async (): Promise<void> => {
    for (const part of parts) {
      // Counted before it is started: a part that fails half-way may hold something too.
      started.push(part)
      await part.start?.()
      if (stopped !== undefined) throw wasStopped()
      logger.info('part started', { part: part.name })
    }
  }
  const startOrUndo = async (): Promise<void> => {
    try {
      await start()
    } catch (error) {
      if (stopped === undefined) {
        logger.error('a part failed to start: everything stops again', { error: errorType(error) })
      }
      await stopOnce()
      throw error
    }
  }
  const stopPart = async (
    part: HostedPart,
    { deadline, after }: { readonly deadline: number; readonly after: readonly HostedPart[] },
  ): Promise<PartReport> => {
    const startedAt = clock.monotonic()
    const budgetMs = stopShareMs(part, { leftMs: Math.max(0, deadline - startedAt), after })
    const budget = { budgetMs, graceMs: budgetMs * 0.8, abortWaitMs: budgetMs * 0.15 }
    const result = await within(clock, budgetMs, () => part.stop?.(budget))
    const base = { name: part.name, elapsedMs: clock.monotonic() - startedAt }
    if (result.status === 'done') {
      return { ...base, status: 'stopped', ...(result.value === undefined ? {} : { report: result.value }) }
    }
    if (result.status === 'late') return { ...base, status: 'late' }
    return { ...base, status: 'failed', error: errorType(result.error) }
  }
  const stop = async (): Promise<ShutdownReport> => {
    const startedAt = clock.monotonic()
    const deadline = startedAt + options.shutdownBudgetMs
    const reports: PartReport[] = []
    const stopping = started.toReversed()
    for (const [place, part] of stopping.entries()) {
      const report = await stopPart(part, { deadline, after: stopping.slice(place + 1) })
      reports.push(report)
      if (report.status === 'stopped') logger.info('part stopped', { part: part.name })
      else
        logger.error('part did not stop cleanly', {
          part: part.name,
          status: report.status,
          error: report.error,
        })
    }
    return { outcome: outcomeOf(reports), elapsedMs: clock.monotonic() - startedAt, parts: reports }
  }
  const stopOnce = (): Promise<ShutdownReport> => {
    stopped ??= stop()
    return stopped
  }
  const host: Host = {
    async start() {
      if (stopped !== undefined) throw wasStopped()
      starting ??= startOrUndo()
      await starting
    },
    stop: stopOnce,
    async health() {
      const probed = await Promise.all(
        parts
          .filter((part) => part.probe !== undefined)
          .map(async ({ name, probe }) => {
            const result = await within(clock, options.probeTimeoutMs, () => probe?.())
            if (result.status === 'done') return { name, status: 'up' as const }
            return {
              name,
              status: 'down' as const,
              error: result.status === 'late' ? 'TIMEOUT' : errorType(result.error),
            }
          }),
      )
      return { status: probed.every(({ status }) => status === 'up') ? 'up' : 'down', parts: probed }
    },
    async run(signals = ['SIGTERM', 'SIGINT']) {
      const { promise, resolve } = Promise.withResolvers<undefined>()
      const onSignal = (): void => {
        resolve(undefined)
      }
      for (const signal of signals) process.on(signal, onSignal)
      try {
        const running = host.start()
        // A part that cannot start must not keep the process from ending: the signal counts at once.
        const cause = await Promise.race([running.then(() => 'started'), promise.then(() => 'signal')])
        running.catch(() => undefined)
        if (cause === 'started') await promise
        const report = await stopOnce()
        const succeeded = report.outcome === 'graceful' || report.outcome === 'forced'
        endProcess(succeeded, options)
        return report
      } catch (error) {
        endProcess(false, options)
        throw error
      } finally {
        for (const signal of signals) process.off(signal, onSignal)
      }
    },
    async [Symbol.asyncDispose]() {
      await stopOnce()
    },
  }
  return host
}

function wasStopped(): InvalidOperationError {
  return new InvalidOperationError('the host was stopped; create a new one')
}

function outcomeOf(reports: readonly PartReport[]): ShutdownReport['outcome'] {
  const said = reports.map(({ report }) => whatPartSays(report))
  if (reports.some(({ status }) => status === 'late') || said.includes('incomplete')) return 'incomplete'
  if (reports.some(({ status }) => status === 'failed') || said.includes('failed')) return 'failed'
  return said.includes('forced') ? 'forced' : 'graceful'
}

/** Processors and pipelines say in their reports whether they ended by themselves, and what did not end at all. */
function whatPartSays(report: unknown): ShutdownReport['outcome'] {
  if (typeof report !== 'object' || report === null) return 'graceful'
  const { outcome, graceful, unresolved, unsettled } = report as Partial<Record<string, unknown>>
  if (outcome === 'failed') return 'failed'
  const leftOver = (Array.isArray(unresolved) && unresolved.length > 0) || Number(unsettled ?? 0) > 0
  if (outcome === 'incomplete' || leftOver) return 'incomplete'
  return graceful === false ? 'forced' : 'graceful'
}
