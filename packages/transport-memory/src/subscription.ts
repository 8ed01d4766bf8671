import {
  createDeadline,
  createDeliveryLedger,
  type Delivery,
  type DeliveryLedger,
  type SendResult,
  type StopReport,
  type SubscribeOptions,
  type Subscription,
  type SubscriptionState,
} from '@litebus/core'
import type { MemoryQueue } from './broker/memory-queue.ts'
import type { StoredMessage } from './broker/stored-message.ts'
import type { MemoryConnection } from './connection.ts'
import { missingQueue } from './errors.ts'
import type { ResolvedMemoryOptions } from './options.ts'

/** A running subscription, as its transport sees it. */
export interface MemorySubscription extends Subscription {
  /** Aborts when it stopped or failed. */
  readonly over: AbortSignal
}

interface Held {
  readonly queue: MemoryQueue
  readonly stored: StoredMessage
}

/** Starts a subscription; it consumes again after every cut and every cancel. */
export function createMemorySubscription(setup: {
  readonly options: ResolvedMemoryOptions
  readonly connection: MemoryConnection
  readonly request: SubscribeOptions
  readonly onDelivery: (delivery: Delivery) => void
}): MemorySubscription {
  const { options, connection, request } = setup
  const { internals } = options.broker
  const prefetch = request.prefetch ?? request.maxInFlight
  const over = new AbortController()
  /** Delivered on the current channel and not settled, whether handed out or not. */
  const held = new Set<Held>()
  let state: SubscriptionState = 'recovering'
  let paused = false
  let detach: (() => void) | undefined
  const deadline = createDeadline(internals.clock)
  let stopping: Promise<StopReport> | undefined

  const move = (next: SubscriptionState): void => {
    if (state === next || state === 'stopped' || state === 'failed') return
    state = next
    request.onStateChange?.(next)
  }

  const send = (ref: Held, act: () => void): Promise<SendResult> => {
    const fault = internals.settlementFaults.next()
    if (fault?.result === 'notSent') return Promise.resolve('notSent')
    held.delete(ref)
    if (fault !== undefined && fault.arrived !== true) internals.giveBack(ref.queue, ref.stored)
    else act()
    ref.queue.offer()
    return Promise.resolve(fault?.result ?? 'settled')
  }

  const ledger: DeliveryLedger<Held> = createDeliveryLedger<Held>({
    maxInFlight: request.maxInFlight,
    clock: internals.clock,
    nativeReturnDelay: true,
    onDelivery: setup.onDelivery,
    onRevoked: request.onRevoked,
    onFault: () => {
      options.logger.error('a receiver of deliveries threw; the delivery is given back', {
        source: request.source,
      })
    },
    driver: {
      accept: (ref) =>
        send(ref, () => {
          ref.queue.remove(ref.stored)
        }),
      returnToQueue: (ref, how) =>
        send(ref, () => {
          internals.giveBack(ref.queue, ref.stored, how)
          if (ref.queue.options.ordered === true) giveBackUnstarted()
        }),
      discard: (ref) =>
        send(ref, () => {
          internals.discard(ref.queue, ref.stored)
        }),
    },
  })

  /** What was pushed ahead would otherwise be handed out before what went back. */
  const giveBackUnstarted = (): void => {
    for (const ref of ledger.takeUnstarted()) {
      held.delete(ref)
      // Nobody saw it: behind one that goes back again and again, its own limit of deliveries must not be spent.
      ref.stored.deliveries -= 1
      internals.giveBack(ref.queue, ref.stored)
    }
  }

  const take = (queue: MemoryQueue, stored: StoredMessage): void => {
    const ref = { queue, stored }
    held.add(ref)
    const { message, deliveries, attempt, firstFailureAt } = stored
    ledger.add(ref, {
      message: { ...message, destination: request.source },
      redelivered: deliveries > 1,
      deliveryCount: deliveries,
      ...(message.messageId === undefined ? {} : { deliveryId: message.messageId }),
      ...(attempt === undefined ? {} : { attempt }),
      ...(firstFailureAt === undefined ? {} : { firstFailureAt }),
    })
  }

  /** The channel is gone: what it delivered comes back, and its deliveries settle nothing any more. */
  const loseChannel = (): number => {
    detach?.()
    detach = undefined
    const unsettled = ledger.revokeAll()
    for (const ref of [...held]) {
      held.delete(ref)
      internals.giveBack(ref.queue, ref.stored)
    }
    return unsettled
  }

  const consume = (): void => {
    if (detach !== undefined || paused || stopping !== undefined || connection.current() === undefined) return
    const queue = internals.queue(request.source)
    if (queue === undefined) {
      fail()
      return
    }
    detach = queue.attach({
      wants: () => held.size < prefetch,
      take: (stored) => {
        take(queue, stored)
      },
      cancelled: () => {
        detach = undefined
        move('recovering')
        internals.clock.schedule(options.missingSourceGraceMs, consumeOrFail)
        queueMicrotask(resumeIfThere)
      },
    })
    move('consuming')
  }

  /** After a cancel: the queue may still be there, or come back within the grace. */
  const resumeIfThere = (): void => {
    if (internals.queue(request.source) !== undefined) consume()
  }
  const consumeOrFail = (): void => {
    if (state === 'recovering') consume()
  }

  const fail = (): void => {
    if (state === 'stopped' || state === 'failed') return
    move('failed')
    loseChannel()
    dispose()
    request.onFailure?.(missingQueue(request.source))
  }

  const follow = (lost: AbortSignal): void => {
    lost.addEventListener(
      'abort',
      () => {
        loseChannel()
        if (!paused) move('recovering')
      },
      { once: true, signal: over.signal },
    )
    consume()
  }
  const stopFollowing = connection.onOpen(follow)
  const stopListening = internals.board.onCloseChannels((queue) => {
    if (queue !== request.source) return
    loseChannel()
    consume()
  })
  const dispose = (): void => {
    stopFollowing()
    stopListening()
    over.abort()
  }
  const current = connection.current()
  if (current !== undefined) follow(current)

  const stop = async (): Promise<StopReport> => {
    detach?.()
    detach = undefined
    for (const ref of ledger.close()) {
      held.delete(ref)
      internals.giveBack(ref.queue, ref.stored)
    }
    await ledger.settled(deadline.signal)
    deadline.end()
    const unsettled = loseChannel()
    move('stopped')
    dispose()
    return { unsettled }
  }

  return {
    over: over.signal,
    get state() {
      return state
    },
    async pause() {
      if (state === 'stopped' || state === 'failed') return
      paused = true
      detach?.()
      detach = undefined
      ledger.pause()
      move('paused')
      await Promise.resolve()
    },
    async resume() {
      if (!paused || state === 'stopped' || state === 'failed') return
      paused = false
      move('recovering')
      ledger.resume()
      consume()
      await Promise.resolve()
    },
    stop({ budgetMs }) {
      deadline.within(budgetMs)
      return (stopping ??= stop())
    },
  }
}
