import { InvalidOperationError, sleep, StoreUnavailableError } from '@litebus/core'
import { createDemand } from './demand.ts'
import { createExecutionWatch } from './execution-watch.ts'
import { createHeartbeat } from './heartbeat.ts'
import { createHeldLeases } from './held-work.ts'
import { createIdleWaiters } from './idle-waiters.ts'
import { leasePass, type LeasedPass } from './lease-pass.ts'
import { startPass, type PassSummary } from './pass.ts'
import { createProcessorMetrics } from './processor-metrics.ts'
import { resolveProcessorOptions, type ProcessorOptions } from './processor-options.ts'
import { runLoop } from './processor-loop.ts'
import { gaugeOf, type ProcessorState } from './processor-state.ts'
import { createRunQueue } from './run-queue.ts'
import { createRunner } from './runner.ts'
import { createSettler } from './settler.ts'
import { createTroubleLog } from './trouble-log.ts'
import { createWakeUp } from './wake-up.ts'

/** What a stop left behind. */
export interface ProcessorStopReport {
  /** True when every handler ended within its grace and every outcome was stored or given back. */
  readonly graceful: boolean
  /** Milliseconds that the stop took. */
  readonly elapsedMs: number
  /** Messages whose handlers did not end, or whose outcome could not be stored: their leases run out. */
  readonly unresolved: readonly { readonly messageId: string; readonly contractName: string }[]
}

/** Leases messages, dispatches them and settles what became of them. */
export interface Processor extends AsyncDisposable {
  /** Label of this processor. */
  readonly name: string
  /** Current state. */
  readonly state: ProcessorState
  /**
   * Resolves while it can do its work, for health checks.
   *
   * @throws StoreUnavailableError when leasing, renewing or settling fails, InvalidOperationError after a stop.
   */
  probe(): Promise<void>
  /** Starts the loop; it runs until stopped. */
  readonly start: () => void
  /**
   * Runs one pass without the loop, for tests and manual hosts, and resolves when every row of it is done.
   *
   * @throws InvalidOperationError while the loop runs, and after a stop.
   */
  processPending(): Promise<PassSummary>
  /** Leases nothing any more and resolves when everything that is held is done. */
  pause(): Promise<void>
  /** Leases again. */
  resume(): void
  /**
   * Works off what is due, then leases nothing any more. Resolves with true when nothing was left, and with false when
   * `timeoutMs` was not enough, or a stop, a pause or a resume came in between. @defaultValue 30 000
   */
  drain(timeoutMs?: number): Promise<boolean>
  /** Stops: gives back what was not started, lets handlers finish within `graceMs`, then aborts them. Idempotent. */
  stop(options?: { readonly graceMs?: number; readonly abortWaitMs?: number }): Promise<ProcessorStopReport>
}

/**
 * Builds the one processor of both axes.
 *
 * @throws OptionsError naming every fault of the options.
 */
export function createProcessor<TTransaction>(given: ProcessorOptions<TTransaction>): Processor {
  const options = resolveProcessorOptions(given)
  const { store, clock, batchSize, concurrency, telemetry } = options
  const owner = `${options.name}-${crypto.randomUUID().slice(0, 13)}`
  const stopping = new AbortController()
  const trouble = createTroubleLog(options.logger, clock, options.name)
  const held = createHeldLeases()
  const queue = createRunQueue()
  const wakeUp = createWakeUp()
  const idle = createIdleWaiters()
  const demand = createDemand({ concurrency, batchSize })
  let state: ProcessorState = 'idle'
  let leasing = 0
  /** True from the end of a drain until something else is asked for. */
  let drained = false
  let loop: Promise<void> | undefined
  let stopped: Promise<ProcessorStopReport> | undefined

  const metrics = createProcessorMetrics(store.axis, telemetry, () => gaugeOf[state])
  const settler = createSettler({
    store,
    clock,
    trouble,
    ...(options.honorShutdownTokenOnPersist ? { signal: stopping.signal } : {}),
  })
  const isIdle = (): boolean => held.size === 0 && leasing === 0
  /** True while the loop waits for room: where it waits for work, a dispatch that ends is no reason to look. */
  let awaitsRoom = false
  const hasRoom = (): boolean => demand.hasRoom(queue.size, runner.running, held.size)
  const runner = createRunner({
    ...options,
    classifier: options.classifier,
    trouble,
    queue,
    held,
    settler,
    metrics,
    onDone: (keyed) => {
      if (isIdle()) idle.release()
      if (keyed || held.size === 0 || hasRoom()) wakeUp.wake()
    },
    onRoom: () => {
      if (awaitsRoom && hasRoom()) wakeUp.wake()
    },
  })
  const heartbeat = createHeartbeat({ ...options, held, trouble, onLost: runner.leaseLost })
  const watch = createExecutionWatch({ ...options, held, onGivenUp: runner.giveUp })

  const lease = async (): Promise<LeasedPass> => {
    leasing += 1
    try {
      const leased = await leasePass(
        { options, owner, stopping: stopping.signal, held, queue, heartbeat, watch },
        batchSize,
      )
      const startedAt = clock.monotonic()
      void leased.pass.finished.then((summary) => {
        demand.observe(summary.leased, clock.monotonic() - startedAt)
        if (summary.leased > 0 || summary.deadLettered > 0) metrics.passed(summary)
      })
      // A stop that came during the call has already given back what was queued then.
      if (stopping.signal.aborted) runner.releaseQueued()
      else runner.pump()
      return leased
    } finally {
      leasing -= 1
      if (isIdle()) idle.release()
    }
  }
  const pause = async (): Promise<void> => {
    refuseAfterStop()
    state = 'paused'
    drained = false
    wakeUp.wake()
    idle.release()
    await idle.wait(isIdle)
  }
  const refuseAfterStop = (): void => {
    if (stopped === undefined) return
    throw new InvalidOperationError(`processor ${options.name} was stopped; create a new one`)
  }
  const stop = async (graceMs: number, abortWaitMs: number): Promise<ProcessorStopReport> => {
    const startedAt = clock.monotonic()
    state = 'stopped'
    drained = false
    stopping.abort()
    idle.release()
    runner.releaseQueued()
    const finished = Promise.all([loop, idle.wait(isIdle)])
    let graceful = await within(graceMs, finished)
    if (!graceful) {
      // What does not end now is reported, not failed.
      watch.stop()
      for (const work of held.all()) work.abort()
      graceful = (await within(abortWaitMs, finished)) && graceMs === 0
    }
    settler.giveUp()
    watch.stop()
    heartbeat.stop()
    metrics.dispose()
    closeDispatcher()
    const unresolved = held.all().map(({ envelope: { message } }) => ({
      messageId: message.id,
      contractName: message.contractName,
    }))
    // Their transactions must not keep connections, and what they answer late settles nothing.
    for (const work of held.all()) {
      work.stage = 'done'
      work.pass.done('persistFailed')
      work.giveUp()
    }
    return {
      graceful: graceful && unresolved.length === 0,
      elapsedMs: clock.monotonic() - startedAt,
      unresolved,
    }
  }
  const closeDispatcher = (): void => {
    try {
      options.dispatcher.close?.()
    } catch (error) {
      trouble.failed('closing the dispatcher', error)
    }
  }
  const within = async (limitMs: number, work: Promise<unknown>): Promise<boolean> => {
    const waiting = new AbortController()
    const done = work.then(() => true)
    const late = sleep(clock, limitMs, waiting.signal).then(() => false)
    const result = await Promise.race([done, late])
    waiting.abort()
    return result
  }
  return {
    name: options.name,
    get state() {
      return state
    },
    async probe() {
      refuseAfterStop()
      const failing = trouble.current
      if (failing.length === 0) return Promise.resolve()
      throw new StoreUnavailableError(
        `expected processor ${options.name} to do its work, found that this fails: ${failing.join(', ')}`,
      )
    },
    start() {
      refuseAfterStop()
      if (loop !== undefined) throw new InvalidOperationError(`processor ${options.name} is already started`)
      if (state === 'idle') state = 'running'
      loop = runLoop({
        lease,
        hasRoom: () => {
          awaitsRoom = !hasRoom()
          return !awaitsRoom
        },
        isIdle,
        wakeUp,
        trouble,
        store,
        clock,
        pollMs: options.pollMs,
        stopping: stopping.signal,
        random: options.random,
        onError: metrics.loopError,
        state: () => state,
        onDrained: () => {
          state = 'paused'
          drained = true
          idle.release()
        },
      })
    },
    async processPending() {
      refuseAfterStop()
      if (loop !== undefined) {
        throw new InvalidOperationError(
          `processor ${options.name} runs its own loop; processPending is for processors that were not started`,
        )
      }
      if (state === 'paused') return startPass(0, 0).finished
      const { pass } = await lease()
      return pass.finished
    },
    pause,
    resume() {
      refuseAfterStop()
      state = loop === undefined ? 'idle' : 'running'
      drained = false
      idle.release()
      wakeUp.wake()
    },
    async drain(timeoutMs = 30_000) {
      refuseAfterStop()
      if (loop === undefined)
        throw new InvalidOperationError(`processor ${options.name} is not started: nothing drains`)
      state = 'draining'
      drained = false
      wakeUp.wake()
      await within(
        timeoutMs,
        idle.wait(() => state !== 'draining'),
      )
      return drained
    },
    stop({ graceMs = options.graceMs, abortWaitMs = options.abortWaitMs } = {}) {
      stopped ??= stop(graceMs, abortWaitMs)
      return stopped
    },
    async [Symbol.asyncDispose]() {
      await this.stop()
    },
  }
}
