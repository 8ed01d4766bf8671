import {
  backoffDelayMs,
  createDeadline,
  createDeliveryLedger,
  sleep,
  within,
  type Delivery,
  type DeliveryLedger,
  type StopReport,
  type SubscribeOptions,
  type Subscription,
  type SubscriptionState,
  type Timer,
} from '@litebus/core'
import type { AmqpConnection, OpenConnection } from './connection.ts'
import { openConsumeChannel, type ConsumeChannel } from './consume-channel.ts'
import { readDelivery } from './delivery-facts.ts'
import type { AmqpDriverMessage } from './driver.ts'
import { attachFailure } from './attach-failure.ts'
import type { ResolvedAmqpOptions } from './options.ts'
import { onScratchChannel } from './scratch-channel.ts'
import type { ServerClose } from './server-close.ts'
import { assertQueue } from './topology/apply-topology.ts'

/** What a subscription works with. */
export interface SubscriptionSetup {
  /** Options of the transport. */
  readonly options: ResolvedAmqpOptions
  /** The consume connection. */
  readonly connection: AmqpConnection
  /** Options of this subscription. */
  readonly request: SubscribeOptions
  /** Receives the deliveries. */
  readonly onDelivery: (delivery: Delivery) => void
}

/** A running subscription, as its transport sees it. */
export interface AmqpSubscription extends Subscription {
  /** Aborts when it has stopped or failed. */
  readonly ended: AbortSignal
}

interface Held {
  readonly channel: ConsumeChannel
  readonly message: AmqpDriverMessage
}

/** Subscribes, and from then on consumes again after every loss, close and cancel. */
export async function startAmqpSubscription(setup: SubscriptionSetup): Promise<AmqpSubscription> {
  const { options, connection, request } = setup
  const { clock, logger } = options
  const { source } = request
  const declared = options.topology.queues?.find(({ name }) => name === source)
  /** Aborts when stopping begins: nothing is opened or handed out any more. */
  const over = new AbortController()
  const ended = new AbortController()
  const deadline = createDeadline(clock)
  let state: SubscriptionState = 'recovering'
  let channel: ConsumeChannel | undefined
  let consuming = false
  let paused = false
  let maintaining = false
  let pausedHold: Timer | undefined
  let transition: Promise<void> = Promise.resolve()
  let stopping: Promise<StopReport> | undefined
  let revokedWhileStopping = 0

  const isOver = (): boolean => over.signal.aborted
  const isWanted = (): boolean => !isOver() && !paused && !consuming

  const move = (next: SubscriptionState): void => {
    if (state === next || state === 'stopped' || state === 'failed') return
    state = next
    request.onStateChange?.(next)
  }

  const ledger: DeliveryLedger<Held> = createDeliveryLedger<Held>({
    maxInFlight: request.maxInFlight,
    clock,
    onDelivery: setup.onDelivery,
    onRevoked: request.onRevoked,
    onFault: () => {
      logger.error('a receiver of deliveries threw; the delivery is given back', { source })
    },
    driver: {
      accept: ({ channel: on, message }) => on.settle(message, 'ack'),
      returnToQueue: ({ channel: on, message }) => on.settle(message, 'requeue'),
      discard: ({ channel: on, message }) => on.settle(message, 'discard'),
    },
  })

  const giveBack = (held: readonly Held[]): void => {
    for (const { channel: on, message } of held) void on.settle(message, 'requeue')
  }

  const onEnd = (ended: ConsumeChannel, close: ServerClose | undefined): void => {
    if (channel !== ended) return
    channel = undefined
    consuming = false
    const revoked = ledger.revokeAll()
    if (stopping !== undefined) revokedWhileStopping += revoked
    if (close !== undefined) {
      logger.warn('the broker closed a consuming channel', {
        source,
        code: close.code,
        reason: close.text,
        revoked,
        advice: close.consumerTimeout
          ? 'a delivery was held longer than consumer_timeout of the broker'
          : undefined,
      })
    }
    void maintain()
  }

  const openChannel = async (open: OpenConnection): Promise<ConsumeChannel> => {
    const opened = await openConsumeChannel(open, clock, {
      onMessage: (on, message) => {
        ledger.add({ channel: on, message }, readDelivery(message, source, declared?.kind))
      },
      onCancelled: () => {
        consuming = false
        logger.warn('the broker cancelled a consumer; it subscribes again', { source })
        void maintain()
      },
      onEnd,
    })
    channel = opened
    return opened
  }

  /** On a channel of its own: a missing queue would close the one that still holds deliveries. */
  const checkSource = (open: OpenConnection): Promise<unknown> =>
    onScratchChannel(open.driver, (scratch) =>
      declared !== undefined && options.topology.mode !== 'verify'
        ? assertQueue(scratch, declared)
        : scratch.checkQueue(source),
    )

  const attach = async (open: OpenConnection): Promise<void> => {
    await checkSource(open)
    const on = channel?.open === true ? channel : await openChannel(open)
    if (!isWanted()) return
    await on.consume(source, request.prefetch ?? request.maxInFlight)
    consuming = true
    if (isOver() || paused) await stopConsuming()
    else move('consuming')
  }

  const stopConsuming = async (): Promise<void> => {
    consuming = false
    try {
      if (channel !== undefined) await within(clock, options.closeTimeoutMs, channel.cancel())
    } catch {
      // The channel is gone or does not answer: nothing more comes from it that could be handed out.
    }
  }

  const maintain = async (): Promise<void> => {
    if (maintaining) return
    maintaining = true
    let missingSince: number | undefined
    for (let attempt = 1; isWanted(); attempt += 1) {
      move('recovering')
      const open = await connection.next(over.signal)
      if (open === undefined) break
      try {
        await attach(open)
      } catch (error) {
        if (open.lost.aborted) continue
        const found = attachFailure(source, error)
        missingSince = found.missing ? (missingSince ?? clock.monotonic()) : undefined
        const missingMs = missingSince === undefined ? -1 : clock.monotonic() - missingSince
        if (found.final || missingMs >= options.missingSourceGraceMs) {
          await fail(found.error)
          break
        }
        logger.warn('a consumer cannot subscribe; trying again', { source, attempt, reason: found.reason })
        await sleep(clock, backoffDelayMs(attempt, options.reconnect, options.random), over.signal)
      }
    }
    maintaining = false
  }

  const fail = async (error: Error): Promise<void> => {
    over.abort()
    move('failed')
    logger.error('a consumer ended for good', { source, reason: error.message })
    ledger.revokeAll()
    await channel?.close()
    ended.abort()
    request.onFailure?.(error)
  }

  const pause = async (): Promise<void> => {
    if (paused || isOver()) return
    paused = true
    ledger.pause()
    move('paused')
    await stopConsuming()
    // Held too long, the broker would close the channel, and everything on it would count as delivered once more.
    pausedHold = clock.schedule(options.pausedHoldMs, () => {
      giveBack(ledger.takeUnstarted())
    })
  }

  const resume = async (): Promise<void> => {
    if (!paused || isOver()) return
    paused = false
    pausedHold?.cancel()
    ledger.resume()
    await maintain()
  }

  const stop = async (): Promise<StopReport> => {
    over.abort()
    pausedHold?.cancel()
    await stopConsuming()
    giveBack(ledger.close())
    await ledger.settled(deadline.signal)
    deadline.end()
    const unsettled = ledger.revokeAll() + revokedWhileStopping
    try {
      if (channel !== undefined) await within(clock, options.closeTimeoutMs, channel.close())
    } catch {
      // It does not answer; its connection is closed or will be.
    }
    move('stopped')
    ended.abort()
    return { unsettled }
  }

  /** Pausing and resuming follow each other, however they are called. */
  const inTurn = (work: () => Promise<void>): Promise<void> => (transition = transition.then(work))

  const open = await connection.ready()
  try {
    await attach(open)
  } catch (error) {
    over.abort()
    await channel?.close()
    throw attachFailure(source, error).error
  }

  return {
    ended: ended.signal,
    get state() {
      return state
    },
    pause: () => inTurn(pause),
    resume: () => inTurn(resume),
    stop({ budgetMs }) {
      deadline.within(budgetMs)
      return (stopping ??= stop())
    },
  }
}
