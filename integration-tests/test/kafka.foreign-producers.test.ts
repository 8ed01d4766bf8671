import { gzipSync } from 'node:zlib'
import { expect, it } from '@jest/globals'
import { textOf, type Delivery, type HeaderValue } from '@litebus/core'
import { kafkaTransport, tombstoneHeader } from '@litebus/transport-kafka'
import { describeWithServices } from '../services/describe-with-services.ts'
import { brokersOf, createKafkaTopic, eventually, withKafkaAdmin } from '../services/index.ts'

const big = 'x'.repeat(700_000)

await describeWithServices(
  'records of producers that are not LiteBus',
  ['kafka', 'kafkaProducers'],
  ({ kafka, kafkaProducers: { kcat, java } }) => {
    it('arrive as they are: headers, keys of any bytes, values that are empty, missing, big or compressed', async () => {
      await using resources = new AsyncDisposableStack()
      const space = resources.use(await kafka.createTopics())
      const topic = `${space.prefix}foreign`
      await withKafkaAdmin(space.url, (admin) => createKafkaTopic(admin, { topic }))
      const target = { brokers: brokersOf(space.url).join(','), topic }

      await kcat(target, ['-k', 'key-1', '-H', 'one=1', '-H', 'two=a', '-H', 'two=b', '-H', 'none'], 'kcat ž')
      await kcat(target, ['-K', ':', '-Z'], 'key-2:\n')
      await kcat(target, ['-D', '\u0001', '-K', ':', '-z', 'gzip'], Buffer.from([0xff, 0, 0x3a, 0x76, 0x01]))
      await kcat(target, ['-z', 'gzip', '-X', 'message.max.bytes=2000000'], gzipSync('a body of bytes'))
      await java(
        target,
        [
          ...['--property', 'parse.key=true', '--property', 'parse.headers=true'],
          ...['--property', 'null.marker=NULL', '--compression-codec', 'gzip'],
        ],
        [
          'litebus-message-id:j-1,empty:\tkey-3\tjava ž',
          'litebus-message-id:j-2\tkey-3\tNULL',
          'litebus-message-id:j-3\tNULL\t',
          `litebus-message-id:j-4\tkey-4\t${big}`,
          '',
        ].join('\n'),
      )

      const transport = resources.use(
        kafkaTransport({ brokers: target.brokers, groupId: `${space.prefix}group` }),
      )
      const came: Delivery[] = []
      await transport.consumer.subscribe({ source: topic, maxInFlight: 1 }, (delivery) => {
        came.push(delivery)
        void delivery.accept()
      })
      await eventually(
        () => {
          expect(came).toHaveLength(8)
        },
        { expectation: 'every record' },
      )
      const seen = came.map(({ message: { orderingKey, body, headers, messageId } }) => ({
        key: orderingKey,
        body:
          body.byteLength > 1000 ? `${String(body.byteLength)} bytes` : Buffer.from(body).toString('latin1'),
        headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, shown(value)])),
        id: messageId,
      }))
      const id = (text: string) => ({ id: text, headers: { 'litebus-message-id': text } })
      expect(seen).toEqual([
        {
          key: 'key-1',
          body: Buffer.from('kcat ž').toString('latin1'),
          headers: { one: '1', two: ['a', 'b'], none: null },
          id: undefined,
        },
        { key: 'key-2', body: '', headers: { [tombstoneHeader]: 'true' }, id: undefined },
        { key: 'kafka-key:base64:/wA=', body: 'v', headers: {}, id: undefined },
        { key: undefined, body: gzipSync('a body of bytes').toString('latin1'), headers: {}, id: undefined },
        {
          key: 'key-3',
          body: Buffer.from('java ž').toString('latin1'),
          headers: { 'litebus-message-id': 'j-1', empty: '' },
          id: 'j-1',
        },
        {
          key: 'key-3',
          body: '',
          id: 'j-2',
          headers: { 'litebus-message-id': 'j-2', [tombstoneHeader]: 'true' },
        },
        { key: undefined, body: '', ...id('j-3') },
        { key: 'key-4', body: `${String(big.length)} bytes`, ...id('j-4') },
      ])
      expect(came.map(({ deliveryId }) => deliveryId)).toEqual(
        came.map((_, offset) => `${topic}-0-${String(offset)}`),
      )
    }, 60_000)
  },
)

function shown(value: HeaderValue | undefined): unknown {
  if (Array.isArray(value)) return value.map((one: HeaderValue) => shown(one))
  return value === undefined || value === null ? value : textOf(value)
}
