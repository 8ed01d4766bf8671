import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { freePort } from '../free-port.ts'
import { createOwnedHome, type OwnedHome } from '../owned-home.ts'
import { startOwnedServer } from '../owned-server.ts'
import { runCommand } from '../run-command.ts'
import type { ServiceNode } from '../service-node.ts'
import { kafkaDistribution, type KafkaDistribution } from './kafka-distribution.ts'
import { probeKafka } from './kafka-client.ts'

export interface KafkaNodeOptions {
  /** Lines of the server's properties by key, such as `{ 'message.max.bytes': '2000000' }`. @defaultValue none */
  readonly settings?: Readonly<Record<string, string>>
  /**
   * A second way in, of a single node: a port that it listens on, and the one that it tells clients of. With a proxy
   * between the two, whoever starts from the proxy stays behind it. @defaultValue none
   */
  readonly proxied?: { readonly port: number; readonly advertised: number }
}

/** Nodes that are broker and controller each, and know each other. */
export interface KafkaCluster extends AsyncDisposable {
  /** Names every node. */
  readonly url: string
  readonly nodes: readonly ServiceNode[]
}

interface NodeAddress {
  readonly id: number
  readonly port: number
  readonly controllerPort: number
}

/**
 * Starts a Kafka node of the caller's own, broker and controller in one process without ZooKeeper, on ports and in a
 * folder of its own. `ctl` runs a class of Kafka, such as `['org.apache.kafka.tools.TopicCommand', '--list', …]`.
 */
export async function startKafkaNode(options: KafkaNodeOptions = {}): Promise<ServiceNode> {
  const cluster = await startKafkaCluster({ ...options, nodes: 1 })
  const [node] = cluster.nodes
  if (node === undefined) throw new Error('unreachable: a cluster of one has a node')
  return { ...node, [Symbol.asyncDispose]: () => cluster[Symbol.asyncDispose]() }
}

/** Starts nodes of the caller's own; what is internal to Kafka has a copy on each of them. */
export async function startKafkaCluster({
  nodes,
  settings = {},
  proxied,
}: KafkaNodeOptions & { readonly nodes: number }): Promise<KafkaCluster> {
  const distribution = await kafkaDistribution()
  const home = await createOwnedHome('litebus-kafka-')
  try {
    const addresses: NodeAddress[] = []
    for (let id = 1; id <= nodes; id++)
      addresses.push({ id, port: await freePort(), controllerPort: await freePort() })
    const started = await Promise.all(
      addresses.map((own) => startNode({ home, distribution, own, addresses, settings, proxied })),
    )
    return {
      url: `kafka://${addresses.map(({ port }) => `127.0.0.1:${String(port)}`).join(',')}`,
      nodes: started,
      [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
    }
  } catch (error) {
    await home[Symbol.asyncDispose]()
    throw error
  }
}

interface NodeSetup {
  readonly home: OwnedHome
  readonly distribution: KafkaDistribution
  readonly own: NodeAddress
  readonly addresses: readonly NodeAddress[]
  readonly settings: Readonly<Record<string, string>>
  readonly proxied: KafkaNodeOptions['proxied']
}

/* Starts in about two seconds with these; the defaults are for servers that run for months. */
const javaOptions = [
  '-Xms128m',
  '-Xmx512m',
  '-XX:+UseSerialGC',
  '-XX:TieredStopAtLevel=1',
  '-Dorg.slf4j.simpleLogger.defaultLogLevel=warn',
]

async function startNode({
  home,
  distribution,
  own,
  addresses,
  settings,
  proxied,
}: NodeSetup): Promise<ServiceNode> {
  const name = `kafka-${String(own.id)}`
  const folder = join(home.path, name)
  const properties = join(folder, 'server.properties')
  const { java, classPath } = distribution
  const run = (args: readonly string[]): Promise<string> =>
    runCommand(java, ['-Xmx256m', '-XX:TieredStopAtLevel=1', '-cp', classPath, ...args], { cwd: folder })
  await mkdir(folder)
  await writeFile(properties, propertiesOf({ folder, own, addresses, settings, proxied }))
  await run(['kafka.tools.StorageTool', 'format', '-t', 'bGl0ZWJ1cy10ZXN0cy0xMQ', '-c', properties])
  const url = `kafka://127.0.0.1:${String(own.port)}`
  const server = await startOwnedServer({
    launch: () =>
      home.spawn({
        name,
        command: java,
        args: [...javaOptions, '-cp', classPath, 'kafka.Kafka', properties],
        stopSignal: 'SIGTERM',
      }),
    probe: () => probeKafka(url),
    expectation: 'Kafka to answer',
    signals: { stop: 'SIGTERM', kill: 'SIGKILL' },
  })
  return {
    ...server,
    url,
    port: own.port,
    ctl: run,
    [Symbol.asyncDispose]: () => server.kill(),
  }
}

function propertiesOf({
  folder,
  own,
  addresses,
  settings,
  proxied,
}: Omit<NodeSetup, 'home' | 'distribution'> & { readonly folder: string }): string {
  const copies = String(addresses.length)
  const agreeing = String(Math.min(2, addresses.length))
  const lines = {
    'process.roles': 'broker,controller',
    'node.id': String(own.id),
    'controller.quorum.voters': addresses
      .map(({ id, controllerPort }) => `${String(id)}@127.0.0.1:${String(controllerPort)}`)
      .join(','),
    listeners: `PLAINTEXT://127.0.0.1:${String(own.port)},CONTROLLER://127.0.0.1:${String(own.controllerPort)}`,
    'advertised.listeners': `PLAINTEXT://127.0.0.1:${String(own.port)}`,
    ...(proxied === undefined ? {} : proxiedListener(own, proxied)),
    'controller.listener.names': 'CONTROLLER',
    'listener.security.protocol.map': 'PLAINTEXT:PLAINTEXT,PROXIED:PLAINTEXT,CONTROLLER:PLAINTEXT',
    'log.dirs': join(folder, 'data'),
    'auto.create.topics.enable': 'false',
    'default.replication.factor': copies,
    'min.insync.replicas': agreeing,
    'offsets.topic.num.partitions': '3',
    'offsets.topic.replication.factor': copies,
    'transaction.state.log.num.partitions': '1',
    'transaction.state.log.replication.factor': copies,
    'transaction.state.log.min.isr': agreeing,
    'share.coordinator.state.topic.replication.factor': copies,
    'share.coordinator.state.topic.min.isr': agreeing,
    // Members of a test come and go at once, and one that dies is missed soon.
    'group.initial.rebalance.delay.ms': '0',
    'group.min.session.timeout.ms': '500',
    // A node that was killed may come back as soon as its earlier life is known to be over.
    'broker.session.timeout.ms': '6000',
    'broker.heartbeat.interval.ms': '1000',
    'num.network.threads': '2',
    'num.io.threads': '2',
    'log.cleaner.dedupe.buffer.size': '4194304',
    'log.index.size.max.bytes': '131072',
    ...settings,
  }
  return Object.entries(lines)
    .map(([key, value]) => `${key}=${value}\n`)
    .join('')
}

function proxiedListener(
  { port, controllerPort }: NodeAddress,
  proxied: NonNullable<KafkaNodeOptions['proxied']>,
): Record<string, string> {
  const at = (name: string, number: number): string => `${name}://127.0.0.1:${String(number)}`
  return {
    listeners: [at('PLAINTEXT', port), at('PROXIED', proxied.port), at('CONTROLLER', controllerPort)].join(
      ',',
    ),
    'advertised.listeners': [at('PLAINTEXT', port), at('PROXIED', proxied.advertised)].join(','),
  }
}
