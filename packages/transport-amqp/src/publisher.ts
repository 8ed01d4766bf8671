import {
  publishFailures,
  publishInKeyOrder,
  type Failure,
  type OutboundMessage,
  type PublishOutcome,
  type TransportPublisher,
} from '@litebus/core'
import type { AmqpConnection } from './connection.ts'
import { carriedBytes } from './headers.ts'
import { createKnownExchanges } from './known-exchanges.ts'
import type { ResolvedAmqpOptions } from './options.ts'
import type { OutstandingPublish } from './publish-channel.ts'
import { createPublishQueue, unavailability } from './publish-queue.ts'
import type { TopologyProblems } from './topology/apply-topology.ts'
import { delayFor, delayQueueName } from './topology/delay-queues.ts'

/** A publisher that its transport can wait for. */
export interface AmqpPublisher extends TransportPublisher {
  /** Resolves when nothing is waiting and nothing is unconfirmed. */
  idle(): Promise<void>
}

/** Publishes with `mandatory` over one confirm channel, pipelined; `problems` is what of the topology does not fit. */
export function createAmqpPublisher(
  options: ResolvedAmqpOptions,
  connection: AmqpConnection,
  problems: () => TopologyProblems,
): AmqpPublisher {
  const exchanges = createKnownExchanges(connection)
  const queue = createPublishQueue(options, connection, ({ exchange }) => {
    if (exchange !== undefined) exchanges.forget(exchange)
  })

  /** The destination, or the queue in which the message waits on its way there; undefined: there is no such delay. */
  const delayed = ({ destination, routingKey, delayMs = 0 }: OutboundMessage): string | undefined => {
    if (delayMs <= 0) return destination
    const declared = options.topology.queues?.find(({ name }) => name === destination)
    const delay = routingKey === undefined ? delayFor(declared, delayMs) : undefined
    return delay === undefined ? undefined : delayQueueName(destination, delay)
  }

  /** Why a message is not sent; `target` is where it would go. */
  const refusal = (message: OutboundMessage, target: string | undefined): PublishOutcome | undefined => {
    const bytes = carriedBytes(message)
    if (bytes === undefined) return rejected(publishFailures.headerInvalid)
    if (bytes > options.maxMessageBytes) return rejected(publishFailures.messageTooLarge)
    if (target === undefined) return rejected(publishFailures.delayUnsupported)
    const found = problems()
    return found.has(message.destination) || found.has(target)
      ? unavailable(publishFailures.topologyMismatch)
      : undefined
  }

  /** Takes its place in the queue at once where the exchange is known. */
  const enqueue = (publish: OutstandingPublish): void => {
    exchanges.ask(publish.exchange, (found) => {
      if (publish.state === 'done') return
      if (found === 'exists') queue.add(publish)
      else if (found === 'missing') publish.settle(rejected(publishFailures.destinationMissing))
      else publish.settle(unavailable(unavailability(found.error)))
    })
  }

  return {
    idle: () => queue.idle(),
    async publish(messages, { signal } = {}) {
      const outstanding: OutstandingPublish[] = []
      let ended: Failure | undefined
      const end = (failure: Failure): void => {
        ended = failure
        for (const publish of outstanding) {
          if (publish.state === 'done') continue
          publish.settle(unanswered(publish, failure))
          queue.abandon(publish)
        }
      }
      const cancel = (): void => {
        end(publishFailures.cancelled)
      }
      const timer = options.clock.schedule(options.publishTimeoutMs, () => {
        end(connection.blocked ? publishFailures.connectionBlocked : publishFailures.timeout)
      })
      signal?.addEventListener('abort', cancel, { once: true })
      if (signal?.aborted === true) cancel()
      try {
        return await publishInKeyOrder(messages, (message, answer) => {
          const target = delayed(message)
          const refused = refusal(message, target)
          if (refused !== undefined) answer(refused)
          else if (ended !== undefined) answer(unavailable(ended))
          else {
            const publish = new Outstanding(message, target ?? message.destination, answer)
            outstanding.push(publish)
            enqueue(publish)
          }
        })
      } finally {
        timer.cancel()
        signal?.removeEventListener('abort', cancel)
      }
    },
  }
}

/** A class, since there is one for each message. */
class Outstanding implements OutstandingPublish {
  readonly message: OutboundMessage
  readonly exchange: string
  readonly routingKey: string
  state: OutstandingPublish['state'] = 'waiting'
  readonly #answer: (outcome: PublishOutcome) => void

  constructor(message: OutboundMessage, target: string, answer: (outcome: PublishOutcome) => void) {
    this.message = message
    // Without a routing key the destination is a queue, which the default exchange reaches by its name.
    this.exchange = message.routingKey === undefined ? '' : target
    this.routingKey = message.routingKey ?? target
    this.#answer = answer
  }

  get messageId(): string {
    return this.message.messageId
  }

  get headers(): OutboundMessage['headers'] {
    return this.message.headers
  }

  get body(): Uint8Array {
    return this.message.body
  }

  settle(outcome: PublishOutcome): void {
    if (this.state === 'done') return
    this.state = 'done'
    this.#answer(outcome)
  }
}

function rejected(failure: Failure): PublishOutcome {
  return { status: 'rejected', failure }
}

function unavailable(failure: Failure): PublishOutcome {
  return { status: 'unavailable', failure }
}

/** What was sent may have arrived; what was not sent did not. */
function unanswered({ state }: OutstandingPublish, failure: Failure): PublishOutcome {
  return { status: state === 'sent' ? 'ambiguous' : 'unavailable', failure }
}
