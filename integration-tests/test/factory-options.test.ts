import { describe, expect, it } from '@jest/globals'
import * as consumer from '@litebus/consumer'
import * as core from '@litebus/core'
import * as host from '@litebus/host'
import * as inbox from '@litebus/inbox'
import * as ingress from '@litebus/ingress'
import * as outbox from '@litebus/outbox'
import * as processing from '@litebus/processing'
import * as storageMemory from '@litebus/storage-memory'
import * as storagePostgres from '@litebus/storage-postgres'
import * as transportAmqp from '@litebus/transport-amqp'
import * as transportKafka from '@litebus/transport-kafka'
import * as transportMemory from '@litebus/transport-memory'

const packages: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  consumer,
  core,
  host,
  inbox,
  ingress,
  outbox,
  processing,
  storageMemory,
  storagePostgres,
  transportAmqp,
  transportKafka,
  transportMemory,
}

type Factory = (options?: unknown) => unknown

const contract = core.defineContract({ name: 'a', version: 1 })
const handler = core.defineHandler({ contract, handle: () => undefined })
const storage = storageMemory.memoryStorage()
const broker = transportMemory.memoryBroker({ queues: [{ name: 'q' }] })
const transport = transportMemory.memoryTransport({ broker })

interface Row {
  readonly build: Factory
  /** What has to be given, each of which is named when it is not. */
  readonly needs: readonly string[]
  /** Options that are complete. */
  readonly complete: Readonly<Record<string, unknown>>
  /** True for building blocks that are handed the options of a whole, so that they leave other names alone. */
  readonly open?: boolean
  /** True where nothing has to be given at all. */
  readonly optional?: boolean
}

const row = (build: unknown, rest: Omit<Row, 'build'>): Row => ({ build: build as Factory, ...rest })
const writer = (axis: core.Axis): Factory => {
  const build = core.createMessageWriter as (axis: core.Axis, options: unknown) => unknown
  return (options) => build(axis, options)
}
const plumbing = {
  logger: core.silentLogger,
  telemetry: core.noTelemetry,
  clock: core.systemClock,
}
const signal = new AbortController().signal
const intake = { pause: () => undefined, resume: () => undefined, suspend: () => undefined }

const table: Readonly<Record<string, Row>> = {
  createInbox: row(inbox.createInbox, {
    needs: ['store', 'contracts'],
    complete: { store: storage.inbox, contracts: [contract] },
  }),
  createOutbox: row(outbox.createOutbox, {
    needs: ['store', 'contracts'],
    complete: { store: storage.outbox, contracts: [contract] },
  }),
  createMessageWriter: row(writer('inbox'), {
    needs: ['store', 'contracts'],
    complete: { store: storage.inbox, contracts: [contract] },
  }),
  createProcessor: row(processing.createProcessor, {
    needs: ['store', 'dispatcher'],
    complete: { store: storage.inbox, dispatcher: { dispatch: () => ({ kind: 'succeeded' }) } },
  }),
  createInboxProcessor: row(inbox.createInboxProcessor, {
    needs: ['store', 'handlers'],
    complete: { store: storage.inbox, handlers: [handler] },
  }),
  createOutboxProcessor: row(outbox.createOutboxProcessor, {
    needs: ['store'],
    complete: { store: storage.outbox, transport },
  }),
  createIngress: row(ingress.createIngress, {
    needs: ['transport', 'source', 'inbox', 'contracts'],
    complete: {
      transport,
      source: 'q',
      inbox: inbox.createInbox({ store: storage.inbox, contracts: [contract] }),
      contracts: [contract],
    },
  }),
  createConsumer: row(consumer.createConsumer, {
    needs: ['transport', 'source', 'handlers'],
    complete: { transport, source: 'q', handlers: [handler], retry: { deadLetterDestination: 'dead' } },
  }),
  createDeliveryPipeline: row(consumer.createDeliveryPipeline, {
    needs: ['transport', 'source', 'handle', 'logger', 'telemetry', 'clock'],
    complete: { ...plumbing, transport, source: 'q', handle: () => Promise.resolve('acked') },
    open: true,
  }),
  createHandoff: row(consumer.createHandoff, {
    needs: ['transport', 'intake', 'stopping', 'forcing', 'logger', 'telemetry', 'clock', 'random'],
    complete: { ...plumbing, transport, intake, stopping: signal, forcing: signal, random: Math.random },
    open: true,
  }),
  createStoreOutage: row(consumer.createStoreOutage, {
    needs: ['intake', 'stopping', 'source', 'logger', 'clock', 'random'],
    complete: { ...plumbing, intake, stopping: signal, source: 'q', random: Math.random },
    open: true,
  }),
  createHost: row(host.createHost, { needs: ['parts'], complete: { parts: [] } }),
  createDeliveryLedger: row(core.createDeliveryLedger, {
    needs: ['driver', 'onDelivery', 'onFault', 'clock'],
    complete: {
      driver: {},
      onDelivery: () => undefined,
      onFault: () => undefined,
      clock: core.systemClock,
      maxInFlight: 1,
    },
  }),
  memoryStorage: row(storageMemory.memoryStorage, { needs: [], complete: {}, optional: true }),
  memoryBroker: row(transportMemory.memoryBroker, { needs: [], complete: {}, optional: true }),
  postgresStorage: row(storagePostgres.postgresStorage, {
    needs: [],
    complete: { connection: 'postgres://127.0.0.1/none', listen: false },
  }),
  amqpTransport: row(transportAmqp.amqpTransport, {
    needs: [],
    complete: { url: 'amqp://127.0.0.1' },
  }),
  kafkaTransport: row(transportKafka.kafkaTransport, {
    needs: [],
    complete: { brokers: '127.0.0.1:9092' },
  }),
  memoryTransport: row(transportMemory.memoryTransport, { needs: ['broker'], complete: { broker } }),
}

/** Factories whose parameter is not a set of options. */
const others = [
  'createCommonLimit',
  'createContractRegistry',
  'createDeadline',
  'createHandlerRegistry',
  'createSettlementAuthority',
  'createSettlementBudget',
  'defineContract',
  'defineHandler',
  'defineTransactionalHandler',
]

function faultsOf(build: Factory, options: unknown): readonly string[] {
  try {
    build(options)
  } catch (error) {
    expect(core.isLiteBusError(error, 'OPTIONS_INVALID')).toBe(true)
    return (error as core.OptionsError).faults
  }
  return []
}

const rows = Object.entries(table)

describe('the table of factories', () => {
  it('has every factory of every package', () => {
    const factories = Object.values(packages).flatMap((exported) =>
      Object.entries(exported).flatMap(([name, value]) =>
        typeof value === 'function' && /^(create|define[A-Z]|memory|postgres|amqp|kafka)/.test(name)
          ? [name]
          : [],
      ),
    )
    expect(new Set(factories)).toEqual(new Set([...Object.keys(table), ...others]))
  })
})

describe.each(rows)('%s', (_name, { build, needs, complete, open = false, optional = false }) => {
  it('takes complete options', () => {
    expect(faultsOf(build, complete)).toEqual([])
  })

  it.each([...(optional ? [] : [undefined]), null, 7, 'text', []])(
    'refuses %p in place of options',
    (given) => {
      expect(faultsOf(build, given)).toEqual([
        expect.stringContaining('expected an object of options, found'),
      ])
    },
  )

  it('names everything that is missing', () => {
    const faults = faultsOf(build, {})
    expect(faults).toEqual(expect.arrayContaining(needs.map((name) => `expected ${name}, found none`)))
    expect(faults.length > 0).toBe(!optional)
  })

  it('names an option that does not exist, unless it is handed the options of a whole', () => {
    const unknown = expect.stringMatching(/^expected no option lease_ms, there are: /)
    expect(faultsOf(build, { ...complete, lease_ms: 1 })).toEqual(open ? [] : [unknown])
  })

  it('takes an option given as undefined for one that is left out', () => {
    const left = Object.fromEntries(needs.map((name) => [name, undefined]))
    expect(faultsOf(build, { ...complete, ...left })).toHaveLength(needs.length)
  })
})

describe('factories that take something else', () => {
  it.each([undefined, null, {}, [undefined], [{}]])('registries refuse %p', (given) => {
    expect(faultsOf(core.createContractRegistry as Factory, given)).not.toEqual([])
    expect(faultsOf(core.createHandlerRegistry as Factory, given)).not.toEqual([])
  })

  it.each([undefined, null, {}, 'text'])('definitions refuse %p', (given) => {
    for (const define of [core.defineContract, core.defineHandler, core.defineTransactionalHandler]) {
      expect(() => (define as Factory)(given)).toThrow(core.ArgumentError)
    }
  })
})

describe('groups of options', () => {
  it.each<readonly [string, Readonly<Record<string, unknown>>, string]>([
    ['createIngress', { batch: { enabled: true, maxSize: 3 } }, 'batch.maxSize'],
    ['createIngress', { onDiscard: { deadLetter: 'd', queue: 'x' } }, 'onDiscard.queue'],
    ['createConsumer', { retry: { attempts: 3 } }, 'retry.attempts'],
    ['createConsumer', { timeoutBudget: { refill: 3 } }, 'timeoutBudget.refill'],
    ['createProcessor', { backoff: { maxDelay: 3 } }, 'backoff.maxDelay'],
    ['createProcessor', { hooks: { before: () => undefined } }, 'hooks.before'],
    ['createOutboxProcessor', { routing: { resolver: () => undefined } }, 'routing.resolver'],
    ['createOutboxProcessor', { circuitBreaker: { threshold: 1 } }, 'circuitBreaker.threshold'],
    ['amqpTransport', { topology: { queue: [] } }, 'topology.queue'],
    [
      'amqpTransport',
      { topology: { queues: [{ name: 'q', deliveryLimt: 3 }] } },
      'topology.queues[0].deliveryLimt',
    ],
    ['createHost', { parts: [{ name: 'a', stopp: () => undefined }] }, 'parts[0].stopp'],
  ])('%s names an option of a group that does not exist', (name, group, misspelt) => {
    const { build, complete } = table[name] ?? {}
    if (build === undefined) throw new Error(`expected ${name} in the table`)
    expect(faultsOf(build, { ...complete, ...group }).join()).toContain(
      `expected no option ${misspelt}, there are: `,
    )
  })
})
