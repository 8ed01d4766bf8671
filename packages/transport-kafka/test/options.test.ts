import { describe, expect, it } from '@jest/globals'
import { isLiteBusError, silentLogger } from '@litebus/core'
import { kafkaTransport, type KafkaTransportOptions } from '@litebus/transport-kafka'
import { safeText } from '../src/errors.ts'
import { findStarts } from '../src/find-starts.ts'
import { refusalOf } from '../src/kafkajs/kafkajs-errors.ts'

describe('options of the Kafka transport', () => {
  it('are all checked at once, without quoting client options', () => {
    const make = () =>
      kafkaTransport({
        brokers: 'kafka://user:secret@host',
        client: {} as never,
        groupId: ' ',
        clientOptions: { sasl: { password: 'secret' } },
        publishTimeoutMs: Number.NaN,
        heartbeatIntervalMs: 20_000,
        onOffsetOutOfRange: 'latest' as never,
        reconnect: { multiplier: 0 },
      })
    for (const fault of [
      /exactly one of brokers and client, found 2/u,
      /host:9092/u,
      /groupId/u,
      /publishTimeoutMs/u,
      /half of sessionTimeoutMs/u,
      /onOffsetOutOfRange.*found latest/u,
      /reconnect\.multiplier/u,
    ])
      expect(make).toThrow(fault)
    expect(make).not.toThrow(/secret/u)
  })

  it('take brokers as a list or as one text', () => {
    expect(() => kafkaTransport({ brokers: 'a:9092, b:9092' })).not.toThrow()
    expect(() => kafkaTransport({ brokers: [] })).toThrow(/host:9092/u)
  })

  it('need a group to subscribe', async () => {
    const transport = kafkaTransport({ brokers: 'nowhere:9092' })
    await expect(
      transport.consumer.subscribe({ source: 'orders', maxInFlight: 1 }, () => undefined),
    ).rejects.toThrow(/groupId/u)
  })
})

describe('a client of the user', () => {
  it('is refused where its consumers tell nothing of their assignments', async () => {
    const consumer = {
      connect: () => Promise.resolve(),
      disconnect: () => Promise.resolve(),
      get events(): never {
        throw new Error('expected not to be called')
      },
    }
    const topics = [{ name: 'orders', partitions: [{ partitionId: 0, leader: 1 }] }]
    const admin = {
      connect: consumer.connect,
      disconnect: consumer.disconnect,
      fetchTopicMetadata: () => Promise.resolve({ topics }),
    }
    const client = { consumer: () => consumer, admin: () => admin, producer: () => consumer }
    const transport = kafkaTransport({ client: client as never, groupId: 'group' })
    await expect(
      transport.consumer.subscribe({ source: 'orders', maxInFlight: 1 }, () => undefined),
    ).rejects.toThrow(/events of KafkaJS, found none called GROUP_JOIN/u)
  })
})

describe('texts of errors', () => {
  it('carry no credentials', () => {
    const options = { clientOptions: { sasl: { mechanism: 'plain', username: 'app', password: 's3cret!' } } }
    const error = new Error('plain: app at //app:s3cret!@host with s3cret! refused')
    expect(safeText(error, options)).toBe('plain: *** at //***@host with *** refused')
  })
})

describe('what a write rejects with', () => {
  it('is a refusal only where nothing was stored for certain', () => {
    const wrapped = Object.assign(new Error('x'), { cause: { type: 'MESSAGE_TOO_LARGE' } })
    expect(refusalOf(wrapped)).toEqual({ protocolError: 'MESSAGE_TOO_LARGE' })
    expect(refusalOf({ type: 'REQUEST_TIMED_OUT' })).toBeUndefined()
    expect(refusalOf({ type: 'OUT_OF_ORDER_SEQUENCE_NUMBER' })).toBeUndefined()
    expect(refusalOf(new Error('closed'))).toBeUndefined()
    expect(refusalOf(undefined)).toBeUndefined()
  })
})

describe('where a partition starts', () => {
  const request = { group: 'g', topic: 't', partitions: [0] }
  const driver = (committed: bigint | undefined) => ({
    committedOffsets: () =>
      Promise.resolve(new Map(committed === undefined ? [] : [[0, { offset: committed, metadata: '' }]])),
    offsetBounds: () => Promise.resolve(new Map([[0, { first: 5n, end: 9n }]])),
  })
  const fail = { onOffsetOutOfRange: 'fail', logger: silentLogger } as const

  it.each([
    [undefined, 5n, false],
    [5n, 5n, true],
    [9n, 9n, true],
  ])('is the committed offset %s, or the first record', async (committed, offset, isCommitted) => {
    expect((await findStarts(driver(committed), request, fail)).get(0)).toMatchObject({ offset, isCommitted })
  })

  it.each([4n, 10n, -2n])(
    'is refused at %s, which the log does not hold, and named with both sides',
    async (committed) => {
      const error: unknown = await findStarts(driver(committed), request, fail).catch(
        (thrown: unknown) => thrown,
      )
      expect(isLiteBusError(error, 'TOPOLOGY_MISMATCH')).toBe(true)
      expect(String(error)).toMatch(new RegExp(`offset ${String(committed)},.*found 5 to 9`, 'u'))
    },
  )

  it('is the first record there where the options say so, and an error is logged', async () => {
    const lines: string[] = []
    const logger = { ...silentLogger, error: (line: string) => lines.push(line) }
    const starts = await findStarts(driver(4n), request, { onOffsetOutOfRange: 'earliest', logger })
    expect(starts.get(0)).toEqual({ offset: 5n, isCommitted: false })
    expect(lines).toHaveLength(1)
  })
})

describe('the name of a reader', () => {
  it.each([
    ['billing', 'billing'],
    [(topic: string) => `billing-${topic}`, 'billing-orders'],
    [undefined, null],
  ])('is consumer group and topic, with groupId %s', (groupId, group) => {
    const transport = kafkaTransport({ brokers: 'localhost:9092', groupId } as KafkaTransportOptions)
    expect(transport.readerOf?.('orders')).toBe(JSON.stringify(['kafka', group, 'orders']))
  })
})
