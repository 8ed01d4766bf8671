import {
  publishFailures,
  type Clock,
  type Failure,
  type OutboundMessage,
  type PublishOutcome,
} from '@litebus/core'
import type { ProducedRecord } from './driver.ts'
import type { KeyChain, OutstandingPublish } from './publish-lane.ts'

/** One call of a publisher: each of its messages has an outcome in time, whatever happens. */
export interface PublishCall extends Disposable {
  /** Does some work before anything is sent; undefined when the call ended meanwhile. */
  unlessEnded<T>(work: () => Promise<T>): Promise<T | undefined>
  /** The outcome of a message that is not sent. Those behind it of its key are not sent either. */
  answered(message: OutboundMessage, outcome: PublishOutcome): Promise<PublishOutcome>
  /** The outcome of a message that is handed on to be sent, if the call has not ended and its key allows it. */
  outstanding(
    message: OutboundMessage,
    what: { readonly record: ProducedRecord; readonly bytes: number },
    send: (publish: OutstandingPublish) => void,
  ): Promise<PublishOutcome>
}

/** How long a call may take, and who may end it before. */
export interface PublishCallOptions {
  /** Time. */
  readonly clock: Clock
  /** Milliseconds. */
  readonly timeoutMs: number
  /** The caller's signal. */
  readonly signal: AbortSignal | undefined
}

/** Starts the clock of a call. */
export function createPublishCall({ clock, timeoutMs, signal }: PublishCallOptions): PublishCall {
  const chains = new Map<string, KeyChain>()
  const open = new Set<OutstandingPublish>()
  const over = Promise.withResolvers<undefined>()
  let ended: Failure | undefined

  const end = (failure: Failure): void => {
    ended ??= failure
    over.resolve(undefined)
    // What was sent may have arrived; what was not sent did not.
    for (const publish of open)
      publish.settle({ status: publish.state === 'sent' ? 'ambiguous' : 'unavailable', failure })
  }
  const cancel = (): void => {
    end(publishFailures.cancelled)
  }
  const timer = clock.schedule(timeoutMs, () => {
    end(publishFailures.timeout)
  })
  signal?.addEventListener('abort', cancel, { once: true })
  if (signal?.aborted === true) cancel()

  const chainOf = ({ destination, orderingKey }: OutboundMessage): KeyChain | undefined => {
    if (orderingKey === undefined) return undefined
    const name = JSON.stringify([destination, orderingKey])
    const chain = chains.get(name) ?? { broken: false, closed: false }
    chains.set(name, chain)
    return chain
  }
  const isHeldBack = (chain: KeyChain | undefined): boolean =>
    chain !== undefined && (chain.broken || chain.closed)
  const notSent = (failure: Failure): PublishOutcome => ({ status: 'unavailable', failure })

  return {
    unlessEnded: (work) => (ended === undefined ? Promise.race([work(), over.promise]) : over.promise),
    answered(message, outcome) {
      const chain = chainOf(message)
      const held = isHeldBack(chain) ? publishFailures.orderHeld : undefined
      const failure = ended ?? held
      if (chain !== undefined) chain.closed = true
      const isRejected = outcome.status === 'rejected' && held === undefined
      return Promise.resolve(failure === undefined || isRejected ? outcome : notSent(failure))
    },
    outstanding(message, { record, bytes }, send) {
      const chain = chainOf(message)
      if (ended !== undefined) return Promise.resolve(notSent(ended))
      if (isHeldBack(chain)) return Promise.resolve(notSent(publishFailures.orderHeld))
      return new Promise((resolve) => {
        const publish: OutstandingPublish = {
          record,
          bytes,
          chain,
          state: 'waiting',
          settle(outcome) {
            if (this.state === 'done') return
            this.state = 'done'
            open.delete(this)
            if (outcome.status !== 'confirmed' && chain !== undefined) chain.broken = true
            resolve(outcome)
          },
        }
        open.add(publish)
        send(publish)
      })
    },
    [Symbol.dispose]() {
      timer.cancel()
      signal?.removeEventListener('abort', cancel)
    },
  }
}
