import { once } from 'node:events'
import { connect, type AddressInfo } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { generate } from 'selfsigned'

/** A server that speaks TLS to its clients and plain TCP to its target. */
export interface TlsProxy extends AsyncDisposable {
  /** Its certificate, signed by nobody but itself, for 127.0.0.1. */
  readonly certificate: string
  /** A key pair that a client may present; the proxy trusts it. */
  readonly client: { readonly key: string; readonly cert: string }
  /** Connections that finished their handshake. */
  readonly handshakes: number
  /** The target's address with protocol, host and port of the proxy. */
  through(url: string): string
}

/** Starts one with fresh certificates; with `requireClient`, it takes only clients that present theirs. */
export async function startTlsProxy(
  target: { readonly port: number },
  { requireClient = false }: { readonly requireClient?: boolean } = {},
): Promise<TlsProxy> {
  const [own, client] = await Promise.all([selfSigned('litebus-test'), selfSigned('litebus-test-client')])
  const open = new Set<TLSSocket>()
  let handshakes = 0
  const listener = createServer(
    {
      key: own.private,
      cert: own.cert,
      ca: [client.cert],
      requestCert: requireClient,
      rejectUnauthorized: requireClient,
    },
    (socket) => {
      handshakes += 1
      open.add(socket)
      socket.once('close', () => open.delete(socket))
      const server = connect({ host: '127.0.0.1', port: target.port })
      for (const [from, to] of [
        [socket, server],
        [server, socket],
      ] as const) {
        from.on('error', () => undefined)
        from.once('close', () => to.destroy())
        from.pipe(to)
      }
    },
  )
  listener.on('tlsClientError', () => undefined)
  listener.listen(0, '127.0.0.1')
  await once(listener, 'listening')
  const { port } = listener.address() as AddressInfo
  return {
    certificate: own.cert,
    client: { key: client.private, cert: client.cert },
    get handshakes() {
      return handshakes
    },
    through(url) {
      // Its protocol is not one of those that may change it in place.
      const { username, password, pathname } = new URL(url)
      return `amqps://${username}:${password}@127.0.0.1:${String(port)}${pathname}`
    },
    async [Symbol.asyncDispose]() {
      const closed = once(listener, 'close')
      listener.close()
      for (const socket of open) socket.destroy()
      await closed
    },
  }
}

function selfSigned(name: string): ReturnType<typeof generate> {
  return generate([{ name: 'commonName', value: name }], {
    keyType: 'ec',
    extensions: [{ name: 'subjectAltName', altNames: [{ type: 7, ip: '127.0.0.1' }] }],
  })
}
