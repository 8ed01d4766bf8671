import { randomUUID } from 'node:crypto'
import type {
  DestinationKind,
  Scope,
  TestDestination,
  TransportFixture,
  TransportProfile,
} from '@litebus/conformance'
import { silentLogger, type HeaderValue } from '@litebus/core'
import {
  amqpTransport,
  type AmqpBinding,
  type AmqpExchange,
  type AmqpQueue,
  type AmqpTransportOptions,
} from '@litebus/transport-amqp'
import { connect } from 'amqplib'
import { allQueues } from '../../src/topology/delay-queues.ts'
import { queueArguments } from '../../src/topology/topology.ts'
import { startTcpProxy } from '../../../../integration-tests/services/index.ts'

const maxMessageBytes = 2 * 1024 * 1024

/* Classic queues have no limit of deliveries, so that there is no `limited` kind of them. */
const parks = (kind: DestinationKind): boolean => kind === 'deadLetter' || kind === 'limited'

function declaration(kind: DestinationKind, name: string, queueKind: 'quorum' | 'classic'): AmqpQueue {
  return {
    name,
    kind: queueKind,
    ...(kind === 'ordered' ? { singleActiveConsumer: true } : {}),
    ...(kind === 'ordered' && queueKind === 'quorum' ? { deliveryLimit: 1000 } : {}),
    ...(kind === 'plain' && queueKind === 'quorum' ? { delays: [500] } : {}),
    ...(kind === 'limited' && queueKind === 'quorum' ? { deliveryLimit: 3 } : {}),
    ...(parks(kind) ? { deadLetter: { routingKey: `${name}-dead` } } : {}),
  }
}

/** Queues of its own behind a proxy of its own; everything is deleted when the scope ends. */
export async function openAmqpFixture(
  scope: Scope,
  url: string,
  queueKind: 'quorum' | 'classic',
): Promise<TransportFixture> {
  const proxy = scope.use(await startTcpProxy({ port: Number(new URL(url).port || 5672) }))
  const admin = await connect(url)
  admin.on('error', () => undefined)
  const channel = await admin.createChannel()
  const prefix = `conformance-${randomUUID().slice(0, 8)}`
  const queues: AmqpQueue[] = []
  const exchanges: AmqpExchange[] = []
  const bindings: AmqpBinding[] = []
  let cancelled = 0
  const logger = {
    ...silentLogger,
    warn(text: string) {
      if (text.startsWith('the broker cancelled a consumer')) cancelled += 1
    },
  }
  const declare = async (queue: AmqpQueue): Promise<void> => {
    await channel.assertQueue(queue.name, { durable: true, arguments: queueArguments(queue) })
  }
  scope.defer(async () => {
    for (const { name } of allQueues({ queues })) await channel.deleteQueue(name)
    for (const { name } of exchanges) await channel.deleteExchange(name)
    await admin.close()
  })
  const create = async (kind: DestinationKind): Promise<TestDestination> => {
    const source = `${prefix}-${kind}-${String(queues.length)}`
    const queue = declaration(kind, source, queueKind)
    const added: AmqpQueue[] = parks(kind) ? [queue, { name: `${source}-dead`, kind: queueKind }] : [queue]
    queues.push(...added)
    for (const entry of allQueues({ queues: added })) await declare(entry)
    const target = { destination: source, source }
    if (parks(kind)) return { ...target, deadLetterSource: `${source}-dead` }
    if (kind !== 'routed') return target
    const exchange = `${source}-exchange`
    exchanges.push({ name: exchange, type: 'direct' })
    bindings.push({ exchange, queue: source, routingKey: 'bound' })
    await channel.assertExchange(exchange, 'direct')
    await channel.bindQueue(source, exchange, 'bound')
    return { destination: exchange, source, routingKey: 'bound', strayRoutingKey: 'stray' }
  }

  return {
    createDestination: create,
    connect: () =>
      amqpTransport({
        url: proxy.through(url),
        ...fixtureOptions,
        logger,
        topology: { mode: 'verify', queues: [...queues], exchanges: [...exchanges], bindings: [...bindings] },
      }),
    count: async (source) => (await channel.checkQueue(source)).messageCount,
    async deleteSource(source) {
      await channel.deleteQueue(source)
    },
    disrupt: {
      cutConnections() {
        proxy.cut()
        return Promise.resolve()
      },
      async cancelConsumers(source) {
        const before = cancelled
        await channel.deleteQueue(source)
        // Seen on 3.10: a quorum queue declared again before its consumers were told keeps them, and serves none.
        await untilTrue(() => cancelled > before)
        const queue = queues.find(({ name }) => name === source)
        if (queue !== undefined) await declare(queue)
      },
    },
    publishForeign(target, { body, headers, messageId }) {
      channel.publish(
        target.routingKey === undefined ? '' : target.destination,
        target.routingKey ?? target.destination,
        Buffer.from(body),
        {
          headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, foreign(value)])),
          ...(messageId === undefined ? {} : { messageId }),
        },
      )
      return Promise.resolve()
    },
  }
}

const fixtureOptions: AmqpTransportOptions = {
  maxMessageBytes,
  missingSourceGraceMs: 300,
  reconnect: { initialDelayMs: 10, maxDelayMs: 200 },
}

/** What the adapter declares for each kind of queue. */
export function amqpProfile(queueKind: 'quorum' | 'classic'): TransportProfile {
  const kinds: readonly DestinationKind[] = ['plain', 'ordered', 'deadLetter', 'routed', 'limited']
  const transport = amqpTransport({
    url: 'amqp://localhost',
    ...fixtureOptions,
    topology: { queues: kinds.map((kind) => declaration(kind, kind, queueKind)) },
  })
  return {
    kinds: {
      plain: transport.capabilitiesOf('plain'),
      ordered: transport.capabilitiesOf('ordered'),
      deadLetter: transport.capabilitiesOf('deadLetter'),
      routed: transport.capabilitiesOf('routed'),
      ...(queueKind === 'quorum' ? { limited: transport.capabilitiesOf('limited') } : {}),
    },
    foreignPublisher: true,
  }
}

function foreign(value: HeaderValue): unknown {
  if (value instanceof Date) return { '!': 'timestamp', value: value.getTime() / 1000 }
  if (value instanceof Uint8Array) return Buffer.from(value)
  if (Array.isArray(value)) return value.map((item: HeaderValue) => foreign(item))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).map(([name, item]: [string, HeaderValue]) => [name, foreign(item)]),
  )
}

async function untilTrue(condition: () => boolean): Promise<void> {
  while (!condition()) await new Promise((resolve) => setTimeout(resolve, 5))
}
