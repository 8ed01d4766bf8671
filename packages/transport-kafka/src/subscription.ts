import {
  createDeadline,
  createDeliveryLedger,
  within,
  type Delivery,
  type DeliveryLedger,
  type StopReport,
  type SubscribeOptions,
  type Subscription,
  type SubscriptionState,
  type Timer,
} from '@litebus/core'
import type { Assignment, RecordRef } from './assignment.ts'
import type { KafkaDriver } from './driver.ts'
import { createFlowControl } from './flow-control.ts'
import { createGroupMember } from './group-member.ts'
import { observeLag } from './observe-lag.ts'
import type { ResolvedKafkaOptions } from './options.ts'

/** What a subscription works with. */
export interface SubscriptionSetup {
  /** Options of the transport. */
  readonly options: ResolvedKafkaOptions
  /** Kafka. */
  readonly driver: KafkaDriver
  /** Options of this subscription. */
  readonly request: SubscribeOptions
  /** Consumer group. */
  readonly group: string
  /** Receives the deliveries. */
  readonly onDelivery: (delivery: Delivery) => void
}

/** A running subscription, as its transport sees it. */
export interface KafkaSubscription extends Subscription {
  /** Consumer group. */
  readonly group: string
  /** Topic. */
  readonly source: string
  /** Aborts when it has stopped or failed. */
  readonly ended: AbortSignal
}

/** Joins the group, and from then on hands out the records of whatever partitions it is given. */
export async function startKafkaSubscription(setup: SubscriptionSetup): Promise<KafkaSubscription> {
  const { options, driver, request, group } = setup
  const { clock, logger } = options
  const { source, maxInFlight } = request
  const ended = new AbortController()
  const deadline = createDeadline(clock)
  let state: SubscriptionState = 'recovering'
  let ready: Assignment | undefined
  let paused = false
  let pumping = false
  let pumpIsDue = false
  let later: Timer | undefined
  let stopping: Promise<StopReport> | undefined
  let revokedWhileStopping = 0
  let stopObserving = (): void => undefined

  const isOver = (): boolean => stopping !== undefined || state === 'failed'

  const move = (next: SubscriptionState): void => {
    if (state === next || state === 'stopped' || state === 'failed') return
    state = next
    request.onStateChange?.(next)
  }

  const ledger: DeliveryLedger<RecordRef> = createDeliveryLedger<RecordRef>({
    maxInFlight,
    clock,
    // A record that goes back waits in its partition, which is what delays it.
    nativeReturnDelay: true,
    onDelivery: setup.onDelivery,
    onRevoked: request.onRevoked,
    onFault: () => {
      logger.error('a receiver of deliveries threw; the delivery is given back', { source })
    },
    driver: {
      accept: (ref) => settled(ref.assignment.finish(ref)),
      discard: (ref) => settled(ref.assignment.finish(ref)),
      returnToQueue: (ref, how) => settled(ref.assignment.putBack(ref, how, clock.monotonic())),
    },
  })

  /** Room for the next record, as soon as the call that made it has ended: once, however many are settled meanwhile. */
  const settled = <T>(result: T): T => {
    if (!pumpIsDue) queueMicrotask(pumpNow)
    pumpIsDue = true
    return result
  }
  const pumpNow = (): void => {
    pumpIsDue = false
    pump()
  }

  const pump = (): void => {
    if (pumping || isOver()) return
    pumping = true
    while (!paused && ready !== undefined && ledger.inFlight < maxInFlight) {
      const next = ready.next(clock.monotonic())
      if (next === undefined) break
      ledger.add(next.ref, next.facts)
    }
    pumping = false
    later?.cancel()
    const waitMs = paused || ledger.inFlight >= maxInFlight ? undefined : ready?.waitMs(clock.monotonic())
    if (waitMs !== undefined) later = clock.schedule(Math.max(1, waitMs), pump)
    flow.drained()
  }

  const flow = createFlowControl({
    most: request.prefetch ?? maxInFlight,
    waitMs: options.fetchMaxWaitMs,
    pause: (partition) => {
      member.pause(partition)
    },
    resume: (partition) => {
      member.resume(partition)
    },
    clock,
  })

  const revoke = (): void => {
    ready = undefined
    const revoked = ledger.revokeAll()
    if (stopping !== undefined) revokedWhileStopping += revoked
    if (revoked > 0) logger.info('deliveries are revoked and come again', { source, group, revoked })
    if (!paused && stopping === undefined) move('recovering')
  }

  const member = createGroupMember({
    options,
    driver,
    request: { group, topic: source },
    events: {
      onReady(assignment) {
        ready = assignment
        stopObserving()
        stopObserving = observeLag(options.telemetry, { topic: source, group }, assignment)
        if (!paused) move('consuming')
        pump()
      },
      onLost() {
        revoke()
        stopObserving()
        flow.reset()
      },
      onSuspended(assignment) {
        revoke()
        assignment.rewind()
      },
      onRecords(assignment, partition) {
        pump()
        const line = assignment.partitions.get(partition)?.line
        return flow.hold(partition, () => (ended.signal.aborted ? 0 : (line?.waiting ?? 0)))
      },
      onFailed(error) {
        revoke()
        move('failed')
        later?.cancel()
        stopObserving()
        logger.error('a consumer ended for good', { source, group, reason: error.message })
        ended.abort()
        request.onFailure?.(error)
      },
    },
  })

  const stop = async (): Promise<StopReport> => {
    later?.cancel()
    ledger.close()
    await ledger.settled(deadline.signal)
    deadline.end()
    const unsettled = ledger.revokeAll() + revokedWhileStopping
    ended.abort()
    flow.reset()
    try {
      await within(clock, options.closeTimeoutMs, member.leave())
    } catch {
      // It does not answer; the group notices by its session timeout.
    }
    stopObserving()
    move('stopped')
    return { unsettled }
  }

  await member.start()

  return {
    group,
    source,
    ended: ended.signal,
    get state() {
      return state
    },
    pause() {
      if (!isOver()) {
        paused = true
        later?.cancel()
        move('paused')
      }
      return Promise.resolve()
    },
    resume() {
      if (paused && !isOver()) {
        paused = false
        move(ready === undefined ? 'recovering' : 'consuming')
        pump()
      }
      return Promise.resolve()
    },
    stop({ budgetMs }) {
      deadline.within(budgetMs)
      stopping ??= Promise.resolve().then(stop)
      return stopping
    },
  }
}
