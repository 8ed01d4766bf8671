import {
  createContractRegistry,
  noTelemetry,
  isolateLogger,
  isolateTelemetry,
  optionFaults,
  OptionsError,
  portRules,
  readOptions,
  silentLogger,
  systemClock,
  type MessageContract,
  type MessageStore,
  type OptionShape,
  type Transport,
} from '@litebus/core'
import {
  createProcessor,
  processorDefaults,
  processorStoreRule,
  processorTuningShape,
  type Dispatcher,
  type Processor,
  type ProcessorTuning,
} from '@litebus/processing'
import { resolveBreakerOptions, type CircuitBreakerOptions } from './breaker-options.ts'
import type { RoutingOptions } from './route.ts'
import { createTransportDispatcher } from './transport-dispatcher.ts'

/** Options of {@link createOutboxProcessor}: exactly one of `transport` and `dispatcher`. */
export interface OutboxProcessorOptions<TTransaction> extends ProcessorTuning {
  /** Outbox face of a store. */
  readonly store: MessageStore<TTransaction>
  /** The broker to publish to. */
  readonly transport?: Transport
  /** Dispatches in this process instead of publishing. */
  readonly dispatcher?: Dispatcher
  /** How destinations are found. @defaultValue topic, else contract name */
  readonly routing?: RoutingOptions
  /** MIME type of the bodies. @defaultValue 'application/json' */
  readonly contentType?: string
  /** How long a publish may take, in milliseconds; less than the lease. @defaultValue 30 000, at most half of the lease */
  readonly publishTimeoutMs?: number
  /** Contracts against which payloads are validated before they are published. @defaultValue no validation */
  readonly validate?: readonly MessageContract<unknown>[]
  /** When a destination whose broker fails is left alone, and how it is probed. */
  readonly circuitBreaker?: CircuitBreakerOptions
}

const shape: OptionShape<OutboxProcessorOptions<never>> = {
  ...processorTuningShape,
  store: processorStoreRule,
  transport: { ...portRules.transport, optional: true },
  dispatcher: { members: ['dispatch'], optional: true },
  routing: 'object?',
  contentType: 'text?',
  publishTimeoutMs: 'any?',
  validate: 'list?',
  circuitBreaker: 'object?',
}

const maxConcurrency = 10_000

const routingShape: OptionShape<RoutingOptions> = { resolve: 'function?', forTenant: 'function?' }

/**
 * Builds the processor that publishes enqueued messages. With a transport, two batches are under way at a time
 * (`concurrency` defaults to twice `batchSize`, at most 10 000): one is leased and sent while the other waits for its
 * confirms. A failing `afterDispatch` hook does not park a message that the broker has confirmed.
 *
 * @throws OptionsError when the store is not an outbox, there is no dispatcher or more than one, or options are not valid.
 */
export function createOutboxProcessor<TTransaction>(given: OutboxProcessorOptions<TTransaction>): Processor {
  const options = readOptions('outbox processor', given, { shape })
  const {
    transport,
    dispatcher,
    routing,
    contentType,
    publishTimeoutMs,
    validate,
    circuitBreaker,
    ...tuning
  } = options
  const leaseMs = tuning.leaseMs ?? processorDefaults.leaseMs
  const timeoutMs = publishTimeoutMs ?? Math.min(30_000, leaseMs / 2)
  const breaker = resolveBreakerOptions(circuitBreaker)
  const faults = [...breaker.faults, ...optionFaults('routing.', routing ?? {}, { shape: routingShape })]
  if (tuning.store.axis !== 'outbox') {
    faults.push(`expected the outbox face of a store, found the ${tuning.store.axis}`)
  }
  if ((transport === undefined) === (dispatcher === undefined)) {
    faults.push(
      `expected exactly one of transport and dispatcher, found ${transport === undefined ? 'none' : 'both'}`,
    )
  }
  if (!(timeoutMs > 0 && timeoutMs < leaseMs)) {
    faults.push(
      `expected publishTimeoutMs above 0 and below leaseMs (${String(leaseMs)}), found ${String(timeoutMs)}`,
    )
  }
  if (faults.length > 0) throw new OptionsError('outbox processor', faults)
  if (transport === undefined) return createProcessor({ ...tuning, dispatcher: dispatcher as Dispatcher })

  const batchSize = tuning.batchSize ?? processorDefaults.batchSize
  return createProcessor({
    concurrency: Math.min(2 * batchSize, maxConcurrency),
    onHookFailure: 'completeDespiteHookFailure',
    ...tuning,
    dispatcher: createTransportDispatcher({
      ...routing,
      transport,
      validate: validate === undefined ? undefined : createContractRegistry(validate),
      contentType: contentType ?? 'application/json',
      publishTimeoutMs: timeoutMs,
      maxBatch: 1000,
      breaker,
      telemetry: isolateTelemetry(tuning.telemetry ?? noTelemetry),
      clock: tuning.clock ?? systemClock,
      random: tuning.random ?? Math.random,
      logger: isolateLogger(tuning.logger ?? silentLogger),
    }),
  })
}
