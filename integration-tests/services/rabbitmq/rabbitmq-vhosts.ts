import type { RunningService, ServiceSpace } from '../service-definition.ts'
import { probeRabbitmq } from './start-rabbit-node.ts'

export interface RabbitmqServer {
  readonly url: string
  /** `rabbitmqctl` against this very server; `undefined` where it is out of reach. */
  readonly ctl: ((args: readonly string[]) => Promise<string>) | undefined
  readonly end: () => Promise<void>
}

/** A RabbitMQ server on which every space is a vhost of its own, or a prefix where no vhost can be made. */
export function rabbitmqVhosts({ url, ctl, end }: RabbitmqServer): RunningService {
  return {
    url,
    async openSpace(name) {
      return (ctl && (await openVhost(url, name, ctl))) ?? prefixOnly(url, name)
    },
    [Symbol.asyncDispose]: end,
  }
}

type Ctl = (args: readonly string[]) => Promise<string>

/* One call of `eval` does what add_vhost and set_permissions do in two, each of which starts a virtual machine. */
async function openVhost(url: string, name: string, ctl: Ctl): Promise<ServiceSpace | undefined> {
  const own = new URL(url)
  const user = decodeURIComponent(own.username)
  own.pathname = `/${name}`
  const remove = async (): Promise<void> => {
    await ctl(['eval', `rabbit_vhost:delete(<<"${name}">>, <<"tests">>).`])
  }
  try {
    await ctl([
      'eval',
      `rabbit_vhost:add(<<"${name}">>, <<"tests">>), rabbit_auth_backend_internal:set_permissions(` +
        `<<"${user}">>, <<"${name}">>, <<".*">>, <<".*">>, <<".*">>, <<"tests">>).`,
    ])
    await probeRabbitmq(own.href)
  } catch {
    await remove().catch(() => undefined)
    return undefined
  }
  return { url: own.href, prefix: '', [Symbol.asyncDispose]: remove }
}

function prefixOnly(url: string, name: string): ServiceSpace {
  return { url, prefix: `${name}.`, [Symbol.asyncDispose]: () => Promise.resolve() }
}
