import { randomUUID } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { isLiteBusError, type Delivery, type OutboundMessage } from '@litebus/core'
import { amqpTransport } from '@litebus/transport-amqp'
import { connect, type Channel, type ChannelModel } from 'amqplib'
import { describeWithServices } from '../../../integration-tests/services/describe-with-services.ts'
import { eventually, startTcpProxy, type TestVhost } from '../../../integration-tests/services/index.ts'

function to(destination: string, messageId: string, parts: Partial<OutboundMessage> = {}): OutboundMessage {
  return { destination, messageId, body: Buffer.from(messageId), headers: {}, ...parts }
}

const quick = { reconnect: { initialDelayMs: 10, maxDelayMs: 100 }, missingSourceGraceMs: 300 } as const

await describeWithServices('the AMQP transport in trouble', ['rabbitmq'], ({ rabbitmq }) => {
  let vhost: TestVhost
  let admin: ChannelModel
  let channel: Channel
  const name = (text: string): string => `${text}-${randomUUID().slice(0, 8)}`

  beforeAll(async () => {
    vhost = await rabbitmq.createVhost()
    admin = await connect(vhost.url)
    channel = await admin.createChannel()
  })
  afterAll(async () => {
    await admin.close()
    await vhost[Symbol.asyncDispose]()
  })

  it('answers every outstanding publish when the broker closes the channel, and goes on', async () => {
    const exchange = name('exchange')
    const queue = name('queue')
    await channel.assertExchange(exchange, 'fanout')
    await channel.assertQueue(queue)
    await channel.bindQueue(queue, exchange, '')
    await using transport = amqpTransport({ url: vhost.url, ...quick })
    const { publisher } = transport
    expect(await publisher.publish([to(exchange, 'warm', { routingKey: 'k' })])).toEqual([
      { status: 'confirmed' },
    ])
    await channel.deleteExchange(exchange)
    const outcomes = await publisher.publish([
      ...Array.from({ length: 50 }, (_, index) => to(queue, `before-${String(index)}`)),
      to(exchange, 'to blame', { routingKey: 'k' }),
      ...Array.from({ length: 50 }, (_, index) => to(queue, `after-${String(index)}`)),
    ])
    expect(outcomes[50]).toEqual({
      status: 'rejected',
      failure: { category: 'DEPENDENCY', code: 'DESTINATION_MISSING' },
    })
    expect(outcomes.filter(({ status }) => status === 'rejected')).toHaveLength(1)
    // The exchange is asked for from now on: its messages fail alone.
    expect(
      await publisher.publish([to(exchange, 'again', { routingKey: 'k' }), to(queue, 'fine')]),
    ).toMatchObject([{ status: 'rejected' }, { status: 'confirmed' }])
  })

  it('explains a declaration that differs from what the broker holds, with both sides', async () => {
    const queue = name('mismatch')
    await channel.assertQueue(queue, { arguments: { 'x-queue-type': 'classic', 'x-max-length': 5 } })
    await using transport = amqpTransport({
      url: vhost.url,
      ...quick,
      topology: { queues: [{ name: queue, kind: 'classic', maxLength: 7 }] },
    })
    await expect(transport.probe(queue)).rejects.toMatchObject({
      code: 'TOPOLOGY_MISMATCH',
      message: expect.stringMatching(/x-max-length.*7.*5/su) as unknown,
    })
    await expect(
      transport.consumer.subscribe({ source: queue, maxInFlight: 1 }, () => undefined),
    ).rejects.toMatchObject({ code: 'TOPOLOGY_MISMATCH' })
    const other = name('other')
    await channel.assertQueue(other)
    expect(await transport.publisher.publish([to(queue, 'held'), to(other, 'sent')])).toMatchObject([
      { status: 'unavailable', failure: { code: 'TOPOLOGY_MISMATCH' } },
      { status: 'confirmed' },
    ])
  })

  it('declares its topology, dead-letters to it and passes priorities through', async () => {
    const [queue, dead, exchange] = [name('work'), name('dead'), name('events')]
    await using transport = amqpTransport({
      url: vhost.url,
      ...quick,
      properties: ({ headers }) => ({ priority: Number(headers['priority'] ?? 0) }),
      topology: {
        queues: [
          { name: queue, kind: 'classic', maxPriority: 9, deadLetter: { routingKey: dead } },
          { name: dead, kind: 'classic' },
        ],
        exchanges: [{ name: exchange, type: 'topic' }],
        bindings: [{ exchange, queue, routingKey: 'order.*' }],
      },
    })
    const outcomes = await transport.publisher.publish(
      ['1', '9', '5'].map((priority) =>
        to(exchange, priority, { routingKey: 'order.placed', headers: { priority } }),
      ),
    )
    expect(outcomes).toEqual(Array.from({ length: 3 }, () => ({ status: 'confirmed' })))
    const seen: (string | undefined)[] = []
    await transport.consumer.subscribe({ source: queue, maxInFlight: 1 }, (delivery) => {
      seen.push(delivery.message.messageId)
      void delivery.discard({ reason: 'TEST' })
    })
    await eventually(
      () => {
        expect(seen).toEqual(['9', '5', '1'])
      },
      {
        expectation: 'the highest priority first',
      },
    )
    await eventually(
      async () => {
        expect((await channel.checkQueue(dead)).messageCount).toBe(3)
      },
      {
        expectation: 'three dead letters',
      },
    )
  })

  it('notices a peer that is silent, and goes on over a new connection', async () => {
    await using proxy = await startTcpProxy({ port: Number(new URL(vhost.url).port || 5672) })
    const queue = name('silent')
    await channel.assertQueue(queue)
    await using transport = amqpTransport({ url: proxy.through(vhost.url), ...quick, heartbeatSeconds: 1 })
    const seen: Delivery[] = []
    const states: string[] = []
    await transport.consumer.subscribe(
      { source: queue, maxInFlight: 5, onStateChange: (state) => states.push(state) },
      (delivery) => {
        seen.push(delivery)
        void delivery.accept()
      },
    )
    await transport.publisher.publish([to(queue, 'before')])
    proxy.stall()
    const [during] = await transport.publisher.publish([to(queue, 'during')])
    expect(during?.status).toBe('ambiguous')
    await eventually(
      () => {
        expect(states).toContain('recovering')
      },
      {
        expectation: 'the silence to be noticed',
        timeoutMs: 20_000,
      },
    )
    proxy.resume()
    await eventually(
      async () => {
        expect(await transport.publisher.publish([to(queue, 'after')])).toEqual([{ status: 'confirmed' }])
      },
      { expectation: 'a publish to be confirmed', timeoutMs: 20_000 },
    )
    await eventually(
      () => {
        expect(seen.map(({ message }) => message.messageId)).toContain('after')
      },
      {
        expectation: 'a delivery over the new connection',
      },
    )
  })

  it('answers unavailable while nothing can be reached, without credentials in any text', async () => {
    const lines: string[] = []
    const write = (text: string, fields?: object): void => {
      lines.push(text, JSON.stringify(fields))
    }
    const url = new URL(vhost.url)
    url.password = 'wrong-and-secret'
    await using transport = amqpTransport({
      url: url.href,
      ...quick,
      logger: { debug: write, info: write, warn: write, error: write },
    })
    expect(await transport.publisher.publish([to('any', '1')])).toMatchObject([
      { status: 'unavailable', failure: { code: 'CONNECTION_LOST' } },
    ])
    const failure: unknown = await transport.probe().catch((error: unknown) => error)
    expect(isLiteBusError(failure, 'TRANSPORT_UNAVAILABLE')).toBe(true)
    await expect(
      transport.consumer.subscribe({ source: 'any', maxInFlight: 1 }, () => undefined),
    ).rejects.toMatchObject({ code: 'TRANSPORT_UNAVAILABLE' })
    expect([...lines, String(failure)].join('\n')).toMatch(/ACCESS_REFUSED/u)
    expect([...lines, String(failure)].join('\n')).not.toMatch(/wrong-and-secret/u)
  })

  it('takes a connection of the user instead of a URL', async () => {
    const queue = name('own')
    await channel.assertQueue(queue)
    const roles: string[] = []
    await using transport = amqpTransport({
      connect: (role) => {
        roles.push(role)
        return connect(vhost.url)
      },
    })
    expect(await transport.publisher.publish([to(queue, '1')])).toEqual([{ status: 'confirmed' }])
    await transport.consumer.subscribe({ source: queue, maxInFlight: 1 }, () => undefined)
    expect(roles).toEqual(['publish', 'consume'])
  })
})
