import { connect } from 'node:net'
import { expect, it } from '@jest/globals'
import { kafkaTransport } from '@litebus/transport-kafka'
import { startLoad } from '../kafka/load.ts'
import { readLog } from '../kafka/read-log.ts'
import { printedSeed, seededRandom } from '../relay/seeded-random.ts'
import { describeWithServices } from '../services/describe-with-services.ts'
import { brokersOf, createKafkaTopic, eventually, startTcpProxy, withKafkaAdmin } from '../services/index.ts'

const long = process.env['LITEBUS_LONG'] === '1'
const messages = long ? 10_000 : 2000
const cuts = long ? 100 : 20

await describeWithServices('a publisher to Kafka', ['kafka'], ({ kafka }) => {
  it(`confirms none of ${String(messages)} messages that the log does not hold, though ${String(cuts)} times answers are lost`, async () => {
    const random = seededRandom(printedSeed('lost answers'))
    await using resources = new AsyncDisposableStack()
    const space = resources.use(await kafka.createTopics())
    const topic = `${space.prefix}orders`
    await withKafkaAdmin(space.url, (admin) => createKafkaTopic(admin, { topic, numPartitions: 3 }))
    const [broker = ''] = brokersOf(space.url)
    const proxy = resources.use(await startTcpProxy({ port: Number(broker.split(':')[1]) }))
    const transport = resources.use(
      kafkaTransport({
        brokers: brokersOf(space.url),
        connectTimeoutMs: 2000,
        clientOptions: {
          socketFactory: ({ onConnect }: { readonly onConnect: () => void }) =>
            connect({ host: '127.0.0.1', port: proxy.port }, onConnect),
        },
      }),
    )
    const load = startLoad(transport, topic, { most: messages })
    for (let cut = 0; cut < cuts; cut++) {
      await reached(() => load.confirmed.size, (messages / cuts) * (cut + random() * 0.8))
      // The request arrives and is stored, and its answer never comes: until then nobody knows.
      proxy.loseAnswers()
      await new Promise((resolve) => setTimeout(resolve, random() * 20))
      proxy.cut()
      if (cut % 3 !== 0) continue
      // Every third time it lasts until the client has given up: the next write must not look like its repetition.
      proxy.refuse()
      await reached(() => load.ambiguous, load.ambiguous + 1)
      proxy.accept()
    }
    await reached(() => load.confirmed.size, messages)
    await load.stop()
    const log = await readLog(space.url, topic)
    expect([...load.confirmed].filter((id) => !log.has(id))).toEqual([])
    const twice = [...log.values()].reduce((sum, times) => sum + times - 1, 0)
    process.stderr.write(
      `${String(messages)} confirmed, ${String(load.ambiguous)} publishes unanswered, ${String(twice)} records twice\n`,
    )
    expect(twice).toBeLessThanOrEqual(load.ambiguous)
  }, 300_000)
})

async function reached(read: () => number, least: number): Promise<void> {
  await eventually(
    () => {
      if (read() < least) throw new Error(String(read()))
    },
    // As long as two publishes may take.
    { expectation: `at least ${String(least)}`, intervalMs: 1, timeoutMs: 60_000 },
  )
}
