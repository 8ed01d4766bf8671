import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'

/** A TCP proxy whose connections can be cut and stalled. */
export interface TcpProxy extends AsyncDisposable {
  /** Port on 127.0.0.1 that it listens on. */
  readonly port: number
  /** Resets every connection. */
  cut(): void
  /** Moves no bytes until called with false; connections stay open, as with a peer that is gone. */
  stall(stalled: boolean): void
  /** Accepts no connections until called with true. */
  accept(accepting: boolean): void
  /** Connections now. */
  readonly connections: number
}

/** Starts a proxy to a host and port. */
export async function startTcpProxy(target: {
  readonly host: string
  readonly port: number
}): Promise<TcpProxy> {
  const pairs = new Set<readonly [Socket, Socket]>()
  let stalled = false
  let accepting = true
  const server = createServer((client) => {
    if (!accepting) {
      client.resetAndDestroy()
      return
    }
    const broker = connect(target)
    const pair = [client, broker] as const
    pairs.add(pair)
    for (const [from, to] of [pair, [broker, client] as const]) {
      from.on('data', (chunk) => {
        if (!to.write(chunk)) from.pause()
      })
      to.on('drain', () => {
        if (!stalled) from.resume()
      })
      from.on('error', () => undefined)
      from.on('close', () => {
        pairs.delete(pair)
        to.destroy()
      })
      if (stalled) from.pause()
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const cut = (): void => {
    for (const [client, broker] of pairs) {
      client.resetAndDestroy()
      broker.resetAndDestroy()
    }
    pairs.clear()
  }
  return {
    port: (server.address() as AddressInfo).port,
    cut,
    stall(value) {
      stalled = value
      for (const socket of [...pairs].flat()) {
        if (value) socket.pause()
        else socket.resume()
      }
    },
    accept(value) {
      accepting = value
    },
    get connections() {
      return pairs.size
    },
    async [Symbol.asyncDispose]() {
      cut()
      server.close()
      await once(server, 'close')
    },
  }
}
