import {
  classifyFailure,
  publishFailures,
  writeHeaders,
  type Clock,
  type ContractRegistry,
  type Failure,
  type LeasedEnvelope,
  type Logger,
  type Mutable,
  type OutboundMessage,
  type PublishOutcome,
  type Telemetry,
  type Transport,
} from '@litebus/core'
import type { Dispatcher, DispatchOutcome } from '@litebus/processing'
import type { ResolvedBreakerOptions } from './breaker-options.ts'
import type { DestinationBreaker } from './destination-breaker.ts'
import { createDestinationBreakers } from './destination-breakers.ts'
import { createPublishBatcher } from './publish-batcher.ts'
import { routeOf, type RoutingOptions } from './route.ts'
import { createTurns } from './turns.ts'

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
  /** When a destination is left alone. */
  readonly breaker: ResolvedBreakerOptions
  /** Time. */
  readonly clock: Clock
  /** Uniform in [0, 1). */
  readonly random: () => number
  /** Where destinations that come and go are logged. */
  readonly logger: Logger
  /** Where the gauges of the breakers go. */
  readonly telemetry: Telemetry
}

/** Dispatches leased messages to a broker and waits for its confirmation of each. */
export function createTransportDispatcher(options: TransportDispatcherOptions): Dispatcher {
  const { transport, clock, random, logger, publishTimeoutMs } = options
  const breakers = createDestinationBreakers({
    ...options.breaker,
    system: transport.system,
    probe: (destination) => transport.probe(destination),
    clock,
    random,
    telemetry: options.telemetry,
    onChange: (destination, open) => {
      if (open) logger.warn('destination is unavailable: its messages wait', { destination })
      else logger.info('destination is available again', { destination })
    },
  })
  const inTurn = createTurns()
  const batcher = createPublishBatcher<Waiting>({
    publisher: transport.publisher,
    maxBatch: options.maxBatch,
    answer: (sent, outcome) => {
      sent.resolve(outcomeOf(outcome, sent))
    },
    deadline: () => {
      const controller = new AbortController()
      const timer = clock.schedule(publishTimeoutMs, () => {
        controller.abort()
      })
      return { signal: controller.signal, cancel: timer.cancel }
    },
  })
  const unavailable = async ({ breaker, admitted }: Sent): Promise<DispatchOutcome> => ({
    kind: 'unavailable',
    delayMs: await breaker.failed(admitted),
  })
  /** Whether the broker took it is open. If the broker can be reached, the message is to blame: once more, alone. */
  const onceMore = async (sent: Sent): Promise<DispatchOutcome> => {
    const { message, breaker } = sent
    if (!(await breaker.reachable())) return unavailable(sent)
    return inTurn(message.destination, async () => {
      const admitted = breaker.admitting
      if (admitted === undefined) return { kind: 'unavailable', delayMs: await breaker.waitMs() }
      const outcome = await batcher.publishAlone(message)
      if (outcome.status !== 'ambiguous') return outcomeOf(outcome, { message, breaker, admitted })
      await breaker.failed(admitted)
      return failed(outcome.failure)
    })
  }
  const outcomeOf = (outcome: PublishOutcome, sent: Sent): DispatchOutcome | Promise<DispatchOutcome> => {
    switch (outcome.status) {
      case 'confirmed':
        sent.breaker.succeeded(sent.admitted)
        return succeeded
      case 'rejected':
        return failed(outcome.failure)
      case 'unavailable': {
        const delayMs = delaysOfOurs[outcome.failure.code]
        return delayMs === undefined ? unavailable(sent) : { kind: 'unavailable', delayMs }
      }
      case 'ambiguous':
        return onceMore(sent)
    }
  }
  /** One promise a message, since a relay has many thousands of them a second. */
  const send = ({ message, breaker, admitted }: Sent): Promise<DispatchOutcome> =>
    new Promise((resolve) => {
      batcher.publish({ message, breaker, admitted, resolve })
    })
  const sendOnceAdmitted = async (
    message: OutboundMessage,
    breaker: DestinationBreaker,
  ): Promise<DispatchOutcome> => {
    const delayMs = await breaker.waitMs()
    const admitted = breaker.admitting
    return delayMs > 0 || admitted === undefined
      ? { kind: 'unavailable', delayMs }
      : send({ message, breaker, admitted })
  }
  const publish = (envelope: LeasedEnvelope): Promise<DispatchOutcome> => {
    const message = outboundOf(envelope, options)
    const breaker = breakers.of(message.destination)
    const admitted = breaker.admitting
    return admitted === undefined ? sendOnceAdmitted(message, breaker) : send({ message, breaker, admitted })
  }
  const publishValid = async (
    envelope: LeasedEnvelope,
    contracts: ContractRegistry,
  ): Promise<DispatchOutcome> => {
    const failure = await payloadFailure(envelope, contracts)
    return failure === undefined ? publish(envelope) : { kind: 'rejected', failure }
  }
  const { validate } = options
  return {
    dispatch: validate === undefined ? publish : (envelope) => publishValid(envelope, validate),
    close: () => {
      breakers.close()
    },
  }
}

/** A message with the breaker of its destination, and the generation of it in which it was sent. */
interface Sent {
  readonly message: OutboundMessage
  readonly breaker: DestinationBreaker
  readonly admitted: number
}

/** With the one who waits for it. */
interface Waiting extends Sent {
  readonly resolve: (outcome: DispatchOutcome | Promise<DispatchOutcome>) => void
}

/**
 * What was not sent for a reason on this side says nothing about the broker: held behind a message of its key that was
 * not confirmed, given up by the caller, or the transport closed by its owner.
 */
const delaysOfOurs: Readonly<Record<string, number>> = {
  [publishFailures.orderHeld.code]: 0,
  [publishFailures.cancelled.code]: 1000,
  [publishFailures.closed.code]: 1000,
}

const succeeded: DispatchOutcome = { kind: 'succeeded' }

function failed(failure: Failure): DispatchOutcome {
  return { kind: 'failed', failure }
}

async function payloadFailure(
  { message }: LeasedEnvelope,
  contracts: ContractRegistry,
): Promise<Failure | undefined> {
  try {
    await contracts.decode(message.contractName, message.contractVersion, message.text ?? message.body)
    return undefined
  } catch (error) {
    return classifyFailure(error)
  }
}

function outboundOf({ message }: LeasedEnvelope, options: TransportDispatcherOptions): OutboundMessage {
  const outbound: Mutable<OutboundMessage> = {
    ...routeOf(message, options),
    messageId: message.id,
    body: message.body,
    headers: writeHeaders(message),
    contentType: options.contentType,
    deduplicationId: message.id,
  }
  if (message.orderingKey !== undefined) outbound.orderingKey = message.orderingKey
  return outbound
}
