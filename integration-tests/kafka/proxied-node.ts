import { startKafkaNode, startTcpProxy, type ServiceNode, type TcpProxy } from '../services/index.ts'
import { freePort } from '../services/free-port.ts'

/** A Kafka that sends clients through a proxy: for those whose sockets a test cannot get at. */
export interface ProxiedNode extends AsyncDisposable {
  /** The node; its URL goes past the proxy. */
  readonly node: ServiceNode
  /** Address to start from that stays behind the proxy. */
  readonly address: string
  /** What connections from there go through. */
  readonly proxy: TcpProxy
}

/** Starts both. */
export async function startProxiedNode(): Promise<ProxiedNode> {
  await using starting = new AsyncDisposableStack()
  const port = await freePort()
  const proxy = starting.use(await startTcpProxy({ port }))
  const node = starting.use(await startKafkaNode({ proxied: { port, advertised: proxy.port } }))
  const started = starting.move()
  return {
    node,
    proxy,
    address: `127.0.0.1:${String(proxy.port)}`,
    [Symbol.asyncDispose]: () => started.disposeAsync(),
  }
}
