import type {
  DestinationKind,
  Scope,
  TestDestination,
  TransportFixture,
  TransportProfile,
} from '@litebus/conformance'
import { memoryBroker, memoryTransport, type MemoryQueueOptions } from '@litebus/transport-memory'

const maxMessageBytes = 2 * 1024 * 1024
const byKind: Readonly<Record<DestinationKind, Partial<MemoryQueueOptions>>> = {
  plain: {},
  ordered: { ordered: true },
  deadLetter: { deadLetter: 'set below' },
  routed: {},
  limited: { deadLetter: 'set below', deliveryLimit: 3 },
}

/** A broker of its own, with its faults as disruptions. */
export function openMemoryFixture(scope: Scope): TransportFixture {
  const broker = memoryBroker()
  scope.defer(() => {
    broker[Symbol.dispose]()
  })
  let created = 0
  return {
    createDestination(kind) {
      created += 1
      const source = `${kind}-${String(created)}`
      const deadLetterSource = `${source}-dead`
      const parks = byKind[kind].deadLetter !== undefined
      if (parks) broker.declareQueue({ name: deadLetterSource })
      broker.declareQueue({
        ...byKind[kind],
        name: source,
        ...(parks ? { deadLetter: deadLetterSource } : {}),
      })
      const target: TestDestination = { destination: source, source }
      if (parks) return Promise.resolve({ ...target, deadLetterSource })
      if (kind !== 'routed') return Promise.resolve(target)
      const exchange = `${source}-exchange`
      broker.declareExchange({ name: exchange, bindings: [{ routingKey: 'bound', queue: source }] })
      return Promise.resolve({
        destination: exchange,
        source,
        routingKey: 'bound',
        strayRoutingKey: 'stray',
      })
    },
    connect: () => memoryTransport({ broker, maxMessageBytes, missingSourceGraceMs: 20 }),
    count: (source) => {
      const { ready, delayed } = broker.count(source)
      return Promise.resolve(ready + delayed)
    },
    deleteSource(source) {
      broker.deleteQueue(source)
      return Promise.resolve()
    },
    publishForeign(target, { body, headers, messageId }) {
      broker.put(target.source, { body, headers, ...(messageId === undefined ? {} : { messageId }) })
      return Promise.resolve()
    },
    disrupt: {
      cutConnections() {
        broker.faults.dropConnections()
        return Promise.resolve()
      },
      cancelConsumers(source) {
        broker.faults.cancelConsumers(source)
        return Promise.resolve()
      },
    },
  }
}

/** What a memory transport declares for each kind of queue. */
export function memoryProfile(): TransportProfile {
  const broker = memoryBroker({
    queues: [
      { name: 'plain' },
      { name: 'ordered', ordered: true },
      { name: 'deadLetter', deadLetter: 'plain' },
      { name: 'limited', deadLetter: 'plain', deliveryLimit: 3 },
    ],
  })
  const transport = memoryTransport({ broker, maxMessageBytes })
  return {
    kinds: {
      plain: transport.capabilitiesOf('plain'),
      ordered: transport.capabilitiesOf('ordered'),
      deadLetter: transport.capabilitiesOf('deadLetter'),
      routed: transport.capabilitiesOf('plain'),
      limited: transport.capabilitiesOf('limited'),
    },
    foreignPublisher: true,
  }
}
