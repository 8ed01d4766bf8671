import type { Clock } from '@litebus/core'
import { abandon, createDispatch, overBudget, type DispatchOptions } from './dispatch.ts'
import type { DispatchOutcome } from './dispatcher.ts'
import type { HeldLeases, HeldWork } from './held-work.ts'
import type { PassSummary } from './pass.ts'
import type { ProcessorMetrics } from './processor-metrics.ts'
import type { RunQueue } from './run-queue.ts'
import { settlementOf, type SettlementPolicy } from './settlement-of.ts'
import type { Settler, SettlementTold } from './settler.ts'

/** Runs queued rows, at most `concurrency` at a time, and hands their outcomes to the settler. */
export interface Runner {
  /** Rows being dispatched. */
  readonly running: number
  /** Starts what may run. */
  pump(): void
  /** Starts nothing any more: gives back what waits. */
  releaseQueued(): void
  /** A lease is lost: ends its dispatch, leaves the row to its new owner. */
  readonly leaseLost: (work: HeldWork) => void
  /** A dispatch does not end: frees its slot and fails the attempt; what it answers late is ignored. */
  readonly giveUp: (work: HeldWork) => void
}

/** What a runner works with. */
export interface RunnerOptions extends DispatchOptions, SettlementPolicy {
  /** Most dispatches at a time. */
  readonly concurrency: number
  /** How long a dispatch may take before it is told to end, in milliseconds. */
  readonly executionBudgetMs: number
  /** How long it may take to end then, in milliseconds. */
  readonly abortWaitMs: number
  /** Rows to run. */
  readonly queue: RunQueue
  /** Rows held. */
  readonly held: HeldLeases
  /** Where outcomes go. */
  readonly settler: Settler
  /** Time. */
  readonly clock: Clock
  /** Measurements. */
  readonly metrics: ProcessorMetrics
  /** Called whenever a row is done, with true when a key has nothing left here. */
  readonly onDone: (keyFreed: boolean) => void
  /** Called when a dispatch has ended and those that could have started: there may be room for more rows. */
  readonly onRoom: () => void
}

/** Starts with nothing running. */
export function createRunner(options: RunnerOptions): Runner {
  const { concurrency, queue, held, settler, clock, metrics, onDone, onRoom } = options
  let running = 0
  let pumping = false

  const done = (work: HeldWork, result: keyof Omit<PassSummary, 'leased'>): void => {
    if (work.stage === 'done') return
    work.stage = 'done'
    held.remove(work)
    work.pass.done(result)
    onDone(work.envelope.message.orderingKey !== undefined)
  }
  const giveBack = (work: HeldWork, delayMs: number): void => {
    work.stage = 'settling'
    settler.release(work, delayMs, () => {
      done(work, 'released')
    })
  }
  const giveBackRestOfKey = (work: HeldWork, delayMs: number): void => {
    for (const behind of queue.cutKey(work)) giveBack(behind, delayMs)
  }
  const told: SettlementTold = (work, settled, answer) => {
    if (answer === 'failed') done(work, 'persistFailed')
    else if (answer === 'leaseLost') done(work, 'leaseLost')
    else done(work, resultOf[settled.kind])
  }
  const conclude = (work: HeldWork, outcome: DispatchOutcome): void => {
    if (outcome.kind === 'settled') {
      queue.goOn(work)
      done(work, 'succeeded')
      return
    }
    if (work.lost || outcome.kind === 'leaseLost') {
      giveBackRestOfKey(work, 0)
      done(work, 'leaseLost')
      return
    }
    const settlement = settlementOf(work.envelope, outcome, options)
    if (settlement.kind === 'none') {
      giveBackRestOfKey(work, 0)
      done(work, 'persistFailed')
      return
    }
    if (settlement.kind === 'release') {
      giveBack(work, settlement.delayMs)
      giveBackRestOfKey(work, settlement.delayMs)
      return
    }
    const { outcome: settled } = settlement
    work.stage = 'settling'
    settler.settle(work, settled, told)
    if (settled.kind === 'succeeded') queue.goOn(work)
    else giveBackRestOfKey(work, 0)
  }
  const run = createDispatch(options, (work, outcome) => {
    if (work.stage === 'running') finish(work, outcome)
  })
  const finish = (work: HeldWork, outcome: DispatchOutcome): void => {
    metrics.dispatched(clock.monotonic() - work.startedAt)
    running -= 1
    conclude(work, outcome)
    pump()
  }
  const start = (work: HeldWork): void => {
    const now = clock.monotonic()
    if (work.lost) {
      giveBackRestOfKey(work, 0)
      done(work, 'leaseLost')
    } else if (work.deadline <= now) {
      giveBackRestOfKey(work, 0)
      giveBack(work, 0)
    } else {
      running += 1
      work.stage = 'running'
      work.startedAt = now
      work.endsAt = now + options.executionBudgetMs
      run(work)
    }
  }
  const startSome = (): void => {
    let started = 0
    while (running < concurrency && started < startsAtOnce) {
      const work = queue.next()
      if (work === undefined) break
      start(work)
      started += 1
    }
    pumping = started === startsAtOnce
    if (pumping) process.nextTick(startSome)
    else onRoom()
  }
  const pump = (): void => {
    if (pumping) return
    pumping = true
    startSome()
  }
  return {
    get running() {
      return running
    },
    pump,
    releaseQueued() {
      for (const work of queue.drain()) giveBack(work, 0)
    },
    leaseLost(work) {
      work.endsAt = clock.monotonic() + options.abortWaitMs
      work.abort()
    },
    giveUp(work) {
      work.giveUp()
      options.trouble.failed('a dispatch that was told to end', new DOMException('', 'TimeoutError'))
      finish(work, overBudget)
      void abandon(work, options)
    },
  }
}

/**
 * Rows that are started before those before them came to their end, or to a wait for something outside. Starting a
 * whole batch at once would hold all of its parsed bodies at a time, which costs more than parsing them.
 */
const startsAtOnce = 16

const resultOf = { succeeded: 'succeeded', retry: 'failed', deadLettered: 'deadLettered' } as const
