import { startContainer } from '../container-engine.ts'
import { runCommand } from '../run-command.ts'
import type { ServiceDefinition } from '../service-definition.ts'
import { findRabbitmqBinaries } from './rabbitmq-binaries.ts'
import { rabbitmqVhosts } from './rabbitmq-vhosts.ts'
import { probeRabbitmq, startRabbitNode } from './start-rabbit-node.ts'

const localUrl = 'amqp://guest:guest@127.0.0.1:5672'
const noEnd = (): Promise<void> => Promise.resolve()

export const rabbitmqDefinition: ServiceDefinition = {
  id: 'rabbitmq',
  title: 'RabbitMQ',
  variable: 'AMQP_URL',
  localUrl,
  howToGet: 'set AMQP_URL, start Docker, or install rabbitmq-server (Debian)',
  probe: probeRabbitmq,
  /* The installed rabbitmqctl speaks for the installed node only: a server named by the environment may be any. */
  attach: (url) =>
    Promise.resolve(rabbitmqVhosts({ url, ctl: isLocal(url) ? installedCtl : undefined, end: noEnd })),
  async startContainer() {
    const container = await startContainer({
      image: 'rabbitmq:4-alpine',
      port: 5672,
      environment: {},
      readyLog: /Server startup complete/,
      readyTimes: 1,
    })
    return rabbitmqVhosts({
      url: `amqp://guest:guest@${container.getHost()}:${String(container.getMappedPort(5672))}`,
      async ctl(args) {
        const { exitCode, output } = await container.exec(['rabbitmqctl', ...args])
        if (exitCode === 0) return output
        throw new Error(
          `expected rabbitmqctl ${args.join(' ')} to succeed, it ended with ${String(exitCode)}: ${output}`,
        )
      },
      end: async () => {
        await container.stop()
      },
    })
  },
  async startOwn() {
    if (findRabbitmqBinaries() === undefined) return undefined
    const node = await startRabbitNode()
    return rabbitmqVhosts({
      url: node.url,
      ctl: (args) => node.ctl(args),
      async end() {
        await node[Symbol.asyncDispose]()
      },
    })
  },
}

function isLocal(url: string): boolean {
  const { hostname, port } = new URL(url)
  return ['127.0.0.1', 'localhost', '[::1]'].includes(hostname) && (port === '' || port === '5672')
}

/* By its bare name: Debian's wrapper then runs it as the account whose cookie the installed node has. */
function installedCtl(args: readonly string[]): Promise<string> {
  return runCommand('rabbitmqctl', args)
}
