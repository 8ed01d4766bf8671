import net from 'node:net'
import tls from 'node:tls'

/** What KafkaJS asks a socket factory for. */
interface SocketRequest {
  /** Host. */
  readonly host: string
  /** Port. */
  readonly port: number
  /** TLS options; nothing for plain TCP. */
  readonly ssl?: object | null | false | undefined
  /** To be called once connected. */
  readonly onConnect: () => void
}

/** Makes the sockets of a client. */
export type SocketFactory = (request: SocketRequest) => net.Socket

/** Sockets that tell when one of them is lost. */
export interface WatchedSockets {
  /** Makes them. */
  readonly factory: SocketFactory
  /** Whoever closes them from now on does so on purpose. */
  release(): void
}

const keepAliveMs = 60_000
/** Brokers close connections that nobody uses; fetching and heartbeats keep the ones that matter busy. */
const idleMs = 30_000

/** Wraps a factory. KafkaJS has no event for a lost connection. */
export function watchSockets(make: SocketFactory, onLost: () => void): WatchedSockets {
  let released = false
  return {
    factory(request) {
      let connected = false
      const socket = make({
        ...request,
        onConnect() {
          connected = true
          request.onConnect()
        },
      })
      let usedAt = performance.now()
      socket.on('data', () => {
        usedAt = performance.now()
      })
      socket.once('close', () => {
        if (connected && !released && performance.now() - usedAt < idleMs) onLost()
      })
      return socket
    },
    release() {
      released = true
    },
  }
}

/**
 * The factory that is usual, with one difference: nothing waits for an acknowledgement of the network before it is
 * sent, which costs up to 40 ms a request.
 */
export function openSocket({ host, port, ssl, onConnect }: SocketRequest): net.Socket {
  const socket =
    typeof ssl === 'object' && ssl !== null
      ? tls.connect({ host, port, ...(net.isIP(host) === 0 ? { servername: host } : {}), ...ssl }, onConnect)
      : net.connect({ host, port }, onConnect)
  return socket.setNoDelay(true).setKeepAlive(true, keepAliveMs)
}
