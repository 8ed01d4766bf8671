import { afterAll, beforeAll, expect, it } from '@jest/globals'
import { kafkaTransport } from '@litebus/transport-kafka'
import { createConsumerCrowd, type ConsumerCrowd } from '../kafka/consumer-crowd.ts'
import { startLoad, type Load } from '../kafka/load.ts'
import { readLog } from '../kafka/read-log.ts'
import { printedSeed, seededRandom } from '../relay/seeded-random.ts'
import { describeWithServices } from '../services/describe-with-services.ts'
import {
  brokersOf,
  createKafkaTopic,
  eventually,
  withKafkaAdmin,
  type KafkaCluster,
} from '../services/index.ts'

const long = process.env['LITEBUS_LONG'] === '1'
// One node can only come back; of three, one can be missing while its groups move to another.
const nodes = long ? 3 : 1
const changes = long ? 20 : 5
const outages = long ? 6 : 3
const perChange = long ? 1000 : 200

await describeWithServices('consumers of a Kafka group', ['startKafkaCluster'], ({ startKafkaCluster }) => {
  let cluster: KafkaCluster

  beforeAll(async () => {
    cluster = await startKafkaCluster({ nodes })
  }, 120_000)
  afterAll(async () => {
    await cluster[Symbol.asyncDispose]()
  })

  /** A topic on all nodes, somebody who publishes to it, and a crowd that consumes it. */
  const arrange = async (resources: AsyncDisposableStack, topic: string) => {
    await withKafkaAdmin(cluster.url, (admin) =>
      createKafkaTopic(admin, { topic, numPartitions: 6, replicationFactor: nodes }),
    )
    const transport = resources.use(
      kafkaTransport({
        brokers: brokersOf(cluster.url),
        publishTimeoutMs: 5000,
        metadataMaxAgeMs: 1000,
        connectTimeoutMs: 1000,
      }),
    )
    const crowd = resources.use(
      await createConsumerCrowd({ url: cluster.url, topic, group: `${topic}-group`, inFlight: 20 }),
    )
    const load = startLoad(transport, topic, { most: 1_000_000 })
    resources.defer(async () => {
      await load.stop().catch(() => undefined)
    })
    return { crowd, load }
  }

  /** What is confirmed and not in the log, and what is in the log and was not handled by anyone, when all is committed. */
  const lostOf = async (topic: string, crowd: ConsumerCrowd, load: Load): Promise<readonly string[]> => {
    await load.stop()
    const log = await readLog(cluster.url, topic)
    const records = [...log.values()].reduce((sum, times) => sum + times, 0)
    await eventually(
      async () => {
        const committed = await crowd.check()
        if (committed !== records) throw new Error(`${String(committed)} of ${String(records)}`)
      },
      { expectation: 'everything in the log to be committed', timeoutMs: 60_000 },
    )
    const handled = await crowd.handled()
    const twice = [...handled.values()].reduce((sum, times) => sum + times - 1, 0)
    process.stderr.write(
      `${topic}: ${String(load.confirmed.size)} confirmed, ${String(load.ambiguous)} publishes unanswered, ` +
        `${String(records)} records, ${String(records - handled.size)} lost, ${String(twice)} handled again\n`,
    )
    const unhandled = Array.from({ length: records - handled.size }, () => 'a record that nobody handled')
    return [...unhandled, ...[...load.confirmed].filter((id) => !log.has(id))]
  }

  it(`skip no record and commit past none while members come, stop and are killed ${String(changes)} times`, async () => {
    const random = seededRandom(printedSeed('rebalances'))
    await using resources = new AsyncDisposableStack()
    const { crowd, load } = await arrange(resources, 'rebalances')
    await Promise.all([crowd.join(), crowd.join()])
    const told: string[] = []
    for (let change = 0; change < changes; change++) {
      await crowd.progress(perChange)
      const joins = crowd.size < 2 || (crowd.size < 4 && random() < 0.4)
      const kind = joins ? 'join' : random() < 0.6 ? 'kill' : 'leave'
      told.push(kind)
      if (kind === 'join') await crowd.join()
      else await crowd[kind](Math.floor(random() * crowd.size))
      await crowd.check()
    }
    process.stderr.write(`rebalances: ${told.join(', ')}\n`)
    await crowd.progress(perChange)
    expect(await lostOf('rebalances', crowd, load)).toEqual([])
  }, 300_000)

  it(`survive ${String(outages)} killed nodes, their coordinator among them, in the same way`, async () => {
    const random = seededRandom(printedSeed('killed nodes'))
    await using resources = new AsyncDisposableStack()
    const { crowd, load } = await arrange(resources, 'killed-nodes')
    await Promise.all([crowd.join(), crowd.join()])
    for (let outage = 0; outage < outages; outage++) {
      await crowd.progress(perChange)
      const coordinator = await coordinatorOf(cluster.url, 'killed-nodes-group')
      const index = outage % 2 === 0 ? coordinator - 1 : Math.floor(random() * nodes)
      const node = cluster.nodes[index]
      process.stderr.write(`killed node ${String(index + 1)}, coordinator ${String(coordinator)}\n`)
      await node?.kill()
      if (nodes > 1) await crowd.progress(perChange)
      await node?.start()
      await crowd.check()
    }
    await crowd.progress(perChange)
    expect(await lostOf('killed-nodes', crowd, load)).toEqual([])
  }, 300_000)
})

/** The node that leads the partition in which a group keeps its offsets. */
async function coordinatorOf(url: string, group: string): Promise<number> {
  const topic = '__consumer_offsets'
  const { topics } = await withKafkaAdmin(url, (admin) => admin.fetchTopicMetadata({ topics: [topic] }))
  const partitions = topics[0]?.partitions ?? []
  const hash = Buffer.from(group).reduce((sum, byte) => (Math.imul(sum, 31) + byte) | 0, 0)
  const own = Math.abs(hash) % partitions.length
  return partitions.find(({ partitionId }) => partitionId === own)?.leader ?? -1
}
