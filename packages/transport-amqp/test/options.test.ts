import { describe, expect, it } from '@jest/globals'
import type { OutboundMessage } from '@litebus/core'
import { amqpTransport, type AmqpTransportOptions } from '@litebus/transport-amqp'
import { safeText } from '../src/errors.ts'
import { carriedBytes, readHeaders } from '../src/headers.ts'
import { topologyFaults } from '../src/topology/check-topology.ts'
import { queueArguments } from '../src/topology/topology.ts'

describe('options of the AMQP transport', () => {
  it('are all checked at once, without quoting the URL', () => {
    const make = () =>
      amqpTransport({
        url: 'http://user:secret@host',
        connection: {},
        publishWindow: 0,
        publishTimeoutMs: Number.NaN,
        reconnect: { multiplier: 0 },
      })
    expect(make).toThrow(/exactly one of url.*amqp:\/\/.*publishWindow.*publishTimeoutMs|publishTimeoutMs/su)
    expect(make).toThrow(/reconnect\.multiplier/u)
    expect(make).not.toThrow(/secret/u)
  })

  it.each([
    [{ name: '' }, /queues\[0\]\.name/u],
    [{ name: 'q', maxPriority: 5 }, /classic queue, or without maxPriority/u],
    [{ name: 'q', durable: false }, /durable/u],
    [{ name: 'q', kind: 'classic', deliveryLimit: 3 }, /without deliveryLimit/u],
    [{ name: 'q', deadLetter: { strategy: 'at-least-once' } }, /reject-publish.*found nothing/u],
    [
      { name: 'q', overflow: 'reject-publish-dlx', deadLetter: { strategy: 'at-least-once' } },
      /found reject-publish-dlx/u,
    ],
    [
      { name: 'q', kind: 'classic', overflow: 'reject-publish', deadLetter: { strategy: 'at-least-once' } },
      /quorum queue: only they/u,
    ],
    [{ name: 'q', maxLength: 5, arguments: { 'x-max-length': 6 } }, /x-max-length/u],
  ] as const)('refuse the queue %j', (queue, fault) => {
    expect(topologyFaults({ queues: [queue] }).join('; ')).toMatch(fault)
  })

  it('refuse names twice and bindings to nothing', () => {
    const faults = topologyFaults({
      queues: [{ name: 'q' }, { name: 'q' }],
      bindings: [{ exchange: 'x' }, { exchange: 'x', queue: 'q', toExchange: 'y' }],
    })
    expect(faults).toHaveLength(3)
  })

  it('declare the delivery limit of a queue as a capability, where there is one', () => {
    const transport = amqpTransport({
      url: 'amqp://localhost',
      topology: { queues: [{ name: 'limited', deliveryLimit: 5 }, { name: 'plain' }] },
    })
    const names = ['limited', 'plain', 'unknown']
    expect(names.map((name) => transport.capabilitiesOf(name).deliveryLimit)).toEqual([
      5,
      undefined,
      undefined,
    ])
  })

  it('become arguments in the names of the broker', () => {
    expect(
      queueArguments({
        name: 'q',
        deliveryLimit: 5,
        overflow: 'reject-publish',
        deadLetter: { routingKey: 'dead', strategy: 'at-least-once' },
        arguments: { 'x-quorum-initial-group-size': 3 },
      }),
    ).toEqual({
      'x-queue-type': 'quorum',
      'x-delivery-limit': 5,
      'x-overflow': 'reject-publish',
      'x-dead-letter-exchange': '',
      'x-dead-letter-routing-key': 'dead',
      'x-dead-letter-strategy': 'at-least-once',
      'x-quorum-initial-group-size': 3,
    })
  })
})

describe('headers of AMQP', () => {
  const message = (parts: Partial<OutboundMessage>): OutboundMessage => ({
    destination: 'q',
    messageId: '1',
    body: new Uint8Array(),
    headers: {},
    ...parts,
  })

  it.each([
    [{ headers: { CC: 'elsewhere' } }],
    [{ headers: { 'x-death': 'text' } }],
    [{ headers: { '': 'no name' } }],
    [{ headers: { ['é'.repeat(128)]: '256 bytes' } }],
    [{ headers: { big: 'x'.repeat(60_000) } }],
    [{ messageId: 'x'.repeat(256) }],
    [{ routingKey: 'x'.repeat(256) }],
    [{ destination: 'x'.repeat(256) }],
    [{ contentType: 'x'.repeat(256) }],
    [{ headers: { number: 5 as unknown as string } }],
  ])('are refused before they close a channel: case %#', (parts) => {
    expect(carriedBytes(message(parts))).toBeUndefined()
  })

  it('count with the body, exactly where a limit may be near and never less than they are', () => {
    expect(carriedBytes(message({ body: new Uint8Array(10), headers: { é: 'é'.repeat(2000) } }))).toBe(
      10 + 4 + 6 + 2 + 4000,
    )
    expect(carriedBytes(message({ headers: { é: 'é' } }))).toBeGreaterThanOrEqual(4 + 6 + 4)
    expect(carriedBytes(message({ headers: { big: 'x'.repeat(59_000) } }))).toBe(4 + 6 + 3 + 59_000)
  })

  it('are read totally, whatever a publisher wrote', () => {
    let deep: unknown = 'bottom'
    for (let depth = 0; depth < 40; depth += 1) deep = [deep]
    const headers = readHeaders({
      content: new Uint8Array(),
      fields: { deliveryTag: 1, redelivered: false, exchange: '', routingKey: '' },
      properties: {
        headers: {
          when: { '!': 'timestamp', value: 1_767_323_045 },
          never: { '!': 'timestamp', value: 1e18 },
          price: { '!': 'decimal', value: { places: 2, digits: 1999 } },
          odd: { '!': 'decimal', value: null },
          raw: Buffer.from([1, 2]),
          deep,
          nothing: undefined,
        },
      },
    })
    expect(headers).toMatchObject({
      when: new Date('2026-01-02T03:04:05Z'),
      never: null,
      price: 19.99,
      odd: null,
      nothing: null,
    })
    expect(headers['raw']).toEqual(Uint8Array.of(1, 2))
    expect(JSON.stringify(headers['deep'])).not.toContain('bottom')
  })
})

describe('texts of errors', () => {
  it('carry no credentials', () => {
    const error = new Error('cannot reach amqp://app:s3cret!@broker:5672/x, password s3cret! refused')
    expect(safeText(error, ['s3cret!'])).toBe('cannot reach amqp://***@broker:5672/x, password *** refused')
  })

  it('say something for errors without text', () => {
    expect(safeText(Object.assign(new AggregateError([]), { code: 'ECONNREFUSED' }))).toBe('ECONNREFUSED')
    expect(safeText(undefined)).toBe('no reason given')
  })
})

describe('the name of a reader', () => {
  const readerOf = (options: AmqpTransportOptions): string | undefined =>
    amqpTransport(options).readerOf?.('orders')

  it.each<[string, AmqpTransportOptions, string]>([
    ['the default virtual host', { url: 'amqp://app:secret@one' }, '/'],
    ['that of another node of the same', { url: 'amqps://app:other@two:5671/' }, '/'],
    ['a virtual host', { url: 'amqp://one/team%2Fa?heartbeat=5' }, 'team/a'],
    ['one in connection options', { connection: { hostname: 'one', vhost: 'team/a' } }, 'team/a'],
    ['connection options without one', { connection: { hostname: 'one' } }, '/'],
    ['a function of the user, which alone knows it', { connect: () => Promise.reject(new Error()) }, ''],
  ])('is virtual host and queue: %s', (_name, options, vhost) => {
    expect(readerOf(options)).toBe(JSON.stringify(['rabbitmq', vhost, 'orders']))
  })
})
