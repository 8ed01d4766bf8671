import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A wire between a client and a server that a test can cut, hold or unplug. */
export interface TcpProxy extends AsyncDisposable {
  readonly port: number
  /** How many client connections are open now. */
  readonly connections: number
  /** The target's address with host and port replaced by the proxy's. */
  through(url: string): string
  /** Resets every open connection; new ones are still accepted. */
  cut(): void
  /** Holds all bytes in both directions without closing anything, as a dead network does. */
  stall(): void
  /** Holds all bytes of the connections that are open now; new ones work, as behind a firewall that forgot the old. */
  stallOpen(): void
  /** Holds what the server sends on the connections open now; what clients send still arrives. */
  holdAnswers(): void
  /** Lets held bytes go on. */
  resume(): void
  /** Drops what the server answers on the connections open now; what clients send still arrives. Cut them afterwards. */
  loseAnswers(): void
  /** Resets every new connection at once, until `accept`. Open ones stay. */
  refuse(): void
  accept(): void
}

export interface TcpProxyTarget {
  /** @defaultValue '127.0.0.1' */
  readonly host?: string
  readonly port: number
  /** Called for each connection; what it answers receives every chunk that the client sends on it. */
  readonly tap?: () => (bytes: Buffer) => void
}

export async function startTcpProxy({ host = '127.0.0.1', port, tap }: TcpProxyTarget): Promise<TcpProxy> {
  const pairs = new Set<readonly [client: Socket, server: Socket]>()
  const mute = new WeakSet<Socket>()
  let stalled = false
  let refusing = false
  const listener = createServer({ pauseOnConnect: true }, (client) => {
    if (refusing) {
      client.on('error', () => undefined).resetAndDestroy()
      return
    }
    const server = connect({ host, port })
    const pair = [client, server] as const
    pairs.add(pair)
    if (tap !== undefined) client.on('data', tap())
    forward(client, server, () => true)
    forward(server, client, () => !mute.has(server))
    client.once('close', () => pairs.delete(pair))
    if (!stalled) client.resume()
    if (stalled) server.pause()
  })
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const ownPort = (listener.address() as AddressInfo).port
  const eachSocket = (act: (socket: Socket) => void): void => {
    for (const pair of pairs) pair.forEach(act)
  }
  const cut = (): void => {
    eachSocket((socket) => socket.resetAndDestroy())
  }
  return {
    port: ownPort,
    get connections() {
      return pairs.size
    },
    through(url) {
      const own = new URL(url)
      own.hostname = '127.0.0.1'
      own.port = String(ownPort)
      return own.href
    },
    cut,
    stall() {
      stalled = true
      eachSocket((socket) => socket.pause())
    },
    stallOpen() {
      eachSocket((socket) => socket.pause())
    },
    holdAnswers() {
      for (const [, server] of pairs) server.pause()
    },
    resume() {
      stalled = false
      eachSocket((socket) => socket.resume())
    },
    loseAnswers() {
      for (const [, server] of pairs) mute.add(server)
    },
    refuse() {
      refusing = true
    },
    accept() {
      refusing = false
    },
    async [Symbol.asyncDispose]() {
      const closed = once(listener, 'close')
      listener.close()
      cut()
      await closed
    },
  }
}

/* Not by pipe: that resumes its source whenever the other side drains, also while the proxy is stalled. */
function forward(from: Socket, to: Socket, passes: () => boolean): void {
  from.on('data', (bytes) => {
    if (passes()) to.write(bytes)
  })
  from.once('end', () => to.end())
  from.on('error', () => undefined)
  from.once('close', () => to.destroy())
}
