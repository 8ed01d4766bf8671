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
  /** Answers a message that is not sent. Those behind it of its key are not sent either. */
  refuse(message: OutboundMessage, slot: number, outcome: PublishOutcome): void
  /** What is to be sent for a message; undefined when the call has ended or its key forbids it, which is answered. */
  outstanding(message: OutboundMessage, slot: number, record: SizedRecord): OutstandingPublish | undefined
  /** Resolves with the outcomes when each message is answered. */
  readonly outcomes: Promise<readonly PublishOutcome[]>
}

/** A record with its bytes. */
interface SizedRecord {
  /** The record. */
  readonly record: ProducedRecord
  /** Its bytes. */
  readonly bytes: number
}

/** How long a call may take, and who may end it before. */
export interface PublishCallOptions {
  /** Messages of the call. */
  readonly messageCount: number
  /** Time. */
  readonly clock: Clock
  /** Milliseconds. */
  readonly timeoutMs: number
  /** The caller's signal. */
  readonly signal: AbortSignal | undefined
}

/** Starts the clock of a call. */
export function createPublishCall({
  messageCount,
  clock,
  timeoutMs,
  signal,
}: PublishCallOptions): PublishCall {
  const chains = new Map<string, KeyChain>()
  /** Those that have their outcome included: they take no second one. */
  const handedOn: Outstanding[] = []
  const over = Promise.withResolvers<undefined>()
  // No promise for each message: a relay publishes many thousands a second.
  const all = Promise.withResolvers<readonly PublishOutcome[]>()
  const answers = new Array<PublishOutcome>(messageCount).fill(unanswered)
  let unansweredCount = messageCount
  if (unansweredCount === 0) all.resolve(answers)
  let ended: Failure | undefined

  const end = (failure: Failure): void => {
    ended ??= failure
    over.resolve(undefined)
    // What was sent may have arrived; what was not sent did not.
    for (const publish of handedOn)
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
  const answer = (slot: number, outcome: PublishOutcome): void => {
    answers[slot] = outcome
    unansweredCount -= 1
    if (unansweredCount === 0) all.resolve(answers)
  }
  const settled = (publish: Outstanding, outcome: PublishOutcome): void => {
    if (outcome.status !== 'confirmed' && publish.chain !== undefined) publish.chain.broken = true
    answer(publish.slot, outcome)
  }

  return {
    unlessEnded: (work) => (ended === undefined ? Promise.race([work(), over.promise]) : over.promise),
    refuse(message, slot, outcome) {
      const chain = chainOf(message)
      const held = isHeldBack(chain) ? publishFailures.orderHeld : undefined
      const failure = ended ?? held
      if (chain !== undefined) chain.closed = true
      const isRejected = outcome.status === 'rejected' && held === undefined
      answer(slot, failure === undefined || isRejected ? outcome : notSent(failure))
    },
    outstanding(message, slot, { record, bytes }) {
      const chain = chainOf(message)
      const failure = ended ?? (isHeldBack(chain) ? publishFailures.orderHeld : undefined)
      if (failure !== undefined) {
        answer(slot, notSent(failure))
        return undefined
      }
      const publish = new Outstanding({ record, bytes, chain }, slot, settled)
      handedOn.push(publish)
      return publish
    },
    outcomes: all.promise,
    [Symbol.dispose]() {
      timer.cancel()
      signal?.removeEventListener('abort', cancel)
    },
  }
}

/** Stands where no outcome is yet: the call answers when none of these is left. */
const unanswered: PublishOutcome = { status: 'ambiguous', failure: publishFailures.connectionLost }

/** A class, since there is one for each message. */
class Outstanding implements OutstandingPublish {
  readonly record: ProducedRecord
  readonly bytes: number
  readonly chain: KeyChain | undefined
  readonly slot: number
  state: OutstandingPublish['state'] = 'waiting'
  readonly #settled: (publish: Outstanding, outcome: PublishOutcome) => void

  constructor(
    { record, bytes, chain }: Pick<OutstandingPublish, 'record' | 'bytes' | 'chain'>,
    slot: number,
    settled: (publish: Outstanding, outcome: PublishOutcome) => void,
  ) {
    this.record = record
    this.bytes = bytes
    this.chain = chain
    this.slot = slot
    this.#settled = settled
  }

  settle(outcome: PublishOutcome): void {
    if (this.state === 'done') return
    this.state = 'done'
    this.#settled(this, outcome)
  }
}
