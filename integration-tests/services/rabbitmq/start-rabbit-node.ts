import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { connect } from 'amqplib'
import { freePort } from '../free-port.ts'
import { createOwnedHome, type OwnedHome } from '../owned-home.ts'
import { startOwnedServer } from '../owned-server.ts'
import { runCommand } from '../run-command.ts'
import type { ServiceNode } from '../service-node.ts'
import { findRabbitmqBinaries, type RabbitmqBinaries } from './rabbitmq-binaries.ts'

export interface RabbitNodeOptions {
  /** Lines of `rabbitmq.conf` by key, such as `{ heartbeat: '2' }`. @defaultValue none */
  readonly settings?: Readonly<Record<string, string>>
}

/**
 * Starts a RabbitMQ node of the caller's own: own name, ports, data folder, cookie and port mapper, so that neither an
 * installed service nor another node notices it. `ctl` is `rabbitmqctl -n <node>`.
 */
export async function startRabbitNode({ settings = {} }: RabbitNodeOptions = {}): Promise<ServiceNode> {
  const binaries = findRabbitmqBinaries()
  if (binaries === undefined) {
    throw new Error('expected the programs of RabbitMQ, found none: install Debian rabbitmq-server')
  }
  const home = await createOwnedHome('litebus-rabbitmq-')
  try {
    return await startNode(home, binaries, settings)
  } catch (error) {
    await home[Symbol.asyncDispose]()
    throw error
  }
}

async function startNode(
  home: OwnedHome,
  binaries: RabbitmqBinaries,
  settings: Readonly<Record<string, string>>,
): Promise<ServiceNode> {
  const port = await freePort()
  const url = `amqp://guest:guest@127.0.0.1:${String(port)}`
  const { node, epmdPort, env } = await describeNode(home, port, settings)
  await home.spawn({
    name: 'epmd',
    command: binaries.epmd,
    args: ['-address', '127.0.0.1', '-port', String(epmdPort)],
    env,
    stopSignal: 'SIGTERM',
  })
  const server = await startOwnedServer({
    launch: () =>
      home.spawn({ name: 'rabbitmq', command: binaries.server, args: [], env, stopSignal: 'SIGTERM' }),
    probe: () => probeRabbitmq(url),
    expectation: 'RabbitMQ to accept connections',
    signals: { stop: 'SIGTERM', kill: 'SIGKILL' },
  })
  return {
    ...server,
    url,
    port,
    ctl: (command) => runCommand(binaries.ctl, ['-n', node, ...command], { env, cwd: home.path }),
    [Symbol.asyncDispose]: () => home[Symbol.asyncDispose](),
  }
}

interface NodeDescription {
  readonly node: string
  readonly epmdPort: number
  readonly env: NodeJS.ProcessEnv
}

async function describeNode(
  home: OwnedHome,
  port: number,
  settings: Readonly<Record<string, string>>,
): Promise<NodeDescription> {
  const file = (name: string): string => join(home.path, name)
  const lines = {
    'listeners.tcp.1': `127.0.0.1:${String(port)}`,
    'log.console': 'true',
    'log.file': 'false',
    ...settings,
  }
  await mkdir(file('mnesia'))
  await writeFile(
    file('rabbitmq.conf'),
    Object.entries(lines)
      .map(([key, value]) => `${key} = ${value}\n`)
      .join(''),
  )
  await writeFile(file('enabled_plugins'), '[].\n')
  const epmdPort = await freePort()
  const node = `litebus-${String(port)}@localhost`
  return {
    node,
    epmdPort,
    env: {
      PATH: process.env.PATH,
      LANG: 'C.UTF-8',
      HOME: home.path,
      ERL_EPMD_PORT: String(epmdPort),
      ERL_EPMD_ADDRESS: '127.0.0.1',
      /* Its start script then becomes the server, so that our child is the server itself and not a shell before it. */
      RUNNING_UNDER_SYSTEMD: 'true',
      RABBITMQ_NODENAME: node,
      RABBITMQ_DIST_PORT: String(await freePort()),
      RABBITMQ_MNESIA_BASE: file('mnesia'),
      RABBITMQ_LOG_BASE: file('log'),
      RABBITMQ_CONFIG_FILE: file('rabbitmq'),
      RABBITMQ_ENABLED_PLUGINS_FILE: file('enabled_plugins'),
      RABBITMQ_CONF_ENV_FILE: file('no-environment-file'),
    },
  }
}

/** Resolves when a connection is opened and closed in order. */
export async function probeRabbitmq(url: string): Promise<void> {
  const connection = await connect(url, { timeout: 5000 })
  connection.on('error', () => undefined)
  await connection.close()
}
