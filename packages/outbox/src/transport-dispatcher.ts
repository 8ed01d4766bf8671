import {
  classifyFailure,
  publishFailures,
  writeHeaders,
  type Clock,
  type ContractRegistry,
  type Failure,
  type LeasedEnvelope,
  type Logger,
  type OutboundMessage,
  type PublishOutcome,
  type Transport,
} from '@litebus/core'
import type { Dispatcher, DispatchOutcome } from '@litebus/processing'
import { createDestinationGate } from './destination-gate.ts'
import { createPublishBatcher } from './publish-batcher.ts'
import { routeOf, type RoutingOptions } from './route.ts'

/** What transport dispatch works with. */
export interface TransportDispatcherOptions extends RoutingOptions {
  /** The broker. */
  readonly transport: Transport
  /** Contracts against which payloads are validated before they are published; absent: no validation. */
  readonly validate: ContractRegistry | undefined
  /** MIME type of the bodies. */
  readonly contentType: string
  /** How long a publish may take. */
  readonly publishTimeoutMs: number
  /** Most messages of one call of the transport. */
  readonly maxBatch: number
  /** Time. */
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Where destinations that come and go are logged. */
  readonly logger: Logger
}

/** Dispatches leased messages to a broker and waits for its confirmation of each. */
export function createTransportDispatcher(options: TransportDispatcherOptions): Dispatcher {
  const { transport, clock, random, logger, publishTimeoutMs } = options
  const gate = createDestinationGate({
    probe: (destination) => transport.probe(destination),
    clock,
    random,
    onChange: (destination, open) => {
      if (open) logger.info('destination is available again', { destination })
      else logger.warn('destination is unavailable: its messages wait', { destination })
    },
  })
  const batcher = createPublishBatcher({
    publisher: transport.publisher,
    maxBatch: options.maxBatch,
    deadline: () => {
      const controller = new AbortController()
      const timer = clock.schedule(publishTimeoutMs, () => {
        controller.abort()
      })
      return { signal: controller.signal, cancel: timer.cancel }
    },
  })
  const unavailable = (destination: string): DispatchOutcome => ({
    kind: 'unavailable',
    delayMs: gate.close(destination),
  })
  /** Whether the broker took it is open. If the broker can be reached, the message is to blame: once more, alone. */
  const onceMore = async (message: OutboundMessage): Promise<DispatchOutcome> => {
    if (!(await gate.probe(message.destination))) return unavailable(message.destination)
    const outcome = await batcher.publishAlone(message)
    return outcome.status === 'ambiguous' ? failed(outcome.failure) : outcomeOf(outcome, message)
  }
  const outcomeOf = (
    outcome: PublishOutcome,
    message: OutboundMessage,
  ): DispatchOutcome | Promise<DispatchOutcome> => {
    switch (outcome.status) {
      case 'confirmed':
        return succeeded
      case 'rejected':
        return failed(outcome.failure)
      case 'unavailable':
        // Held behind a message of its key that was not confirmed: the destination itself can be reached.
        return outcome.failure.code === publishFailures.orderHeld.code
          ? { kind: 'unavailable', delayMs: 0 }
          : unavailable(message.destination)
      case 'ambiguous':
        return onceMore(message)
    }
  }
  return {
    async dispatch(envelope) {
      const invalid = await payloadFailure(envelope, options.validate)
      if (invalid !== undefined) return { kind: 'rejected', failure: invalid }
      const message = outboundOf(envelope, options)
      const delayMs = await gate.waitMs(message.destination)
      if (delayMs > 0) return { kind: 'unavailable', delayMs }
      return outcomeOf(await batcher.publish(message), message)
    },
  }
}

const succeeded: DispatchOutcome = { kind: 'succeeded' }

function failed(failure: Failure): DispatchOutcome {
  return { kind: 'failed', failure }
}

async function payloadFailure(
  { message }: LeasedEnvelope,
  contracts: ContractRegistry | undefined,
): Promise<Failure | undefined> {
  if (contracts === undefined) return undefined
  try {
    await contracts.decode(message.contractName, message.contractVersion, message.body)
    return undefined
  } catch (error) {
    return classifyFailure(error)
  }
}

function outboundOf({ message }: LeasedEnvelope, options: TransportDispatcherOptions): OutboundMessage {
  const route = routeOf(message, options)
  return {
    ...route,
    messageId: message.id,
    body: message.body,
    headers: writeHeaders(message),
    contentType: options.contentType,
    deduplicationId: message.id,
    ...(message.orderingKey === undefined ? {} : { orderingKey: message.orderingKey }),
  }
}
