import { connect as connectAmqplib } from 'amqplib'
import type { AmqpDriverConnection } from './driver.ts'
import type { AmqpConnectionRole, ResolvedAmqpOptions } from './options.ts'

/** Opens a connection with the client, or with the function of the user. */
export function dial(options: ResolvedAmqpOptions, role: AmqpConnectionRole): Promise<AmqpDriverConnection> {
  if (options.connect !== undefined) return options.connect(role)
  const socket = { noDelay: true, timeout: options.connectTimeoutMs, ...options.socketOptions }
  if (options.url !== undefined) return connectAmqplib(withHeartbeat(options.url, options), socket)
  return connectAmqplib({ heartbeat: options.heartbeatSeconds, ...options.connection }, socket)
}

function withHeartbeat(url: string, options: ResolvedAmqpOptions): string {
  const parsed = new URL(url)
  if (!parsed.searchParams.has('heartbeat'))
    parsed.searchParams.set('heartbeat', String(options.heartbeatSeconds))
  return parsed.href
}

/** Passwords that must not appear in any text. */
export function secretsOf(options: ResolvedAmqpOptions): readonly string[] {
  const fromUrl =
    options.url === undefined
      ? []
      : [new URL(options.url).password, safeDecode(new URL(options.url).password)]
  const fromOptions = options.connection?.['password']
  return [...fromUrl, ...(typeof fromOptions === 'string' ? [fromOptions] : [])]
}

/** The virtual host; empty where only the function of the user knows it. */
export function virtualHostOf({ url, connection, connect }: ResolvedAmqpOptions): string {
  if (connect !== undefined) return ''
  const named = url === undefined ? connection?.['vhost'] : safeDecode(new URL(url).pathname.slice(1))
  return typeof named === 'string' && named !== '' ? named : '/'
}

function safeDecode(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** The parts of a Node socket that matter here. */
export interface SocketLike {
  /** Bytes that wait to be written. */
  readonly writableLength?: number
  /** Ends it at once. */
  destroy?(): void
  /** Keeps what is written together until as many calls of `uncork`. */
  cork?(): void
  /** Lets it go. */
  uncork?(): void
  /** Adds a listener before those that are there. */
  prependListener?(event: 'drain', listener: () => void): unknown
  /** Removes one. */
  removeListener?(event: 'drain', listener: () => void): unknown
}

/** The socket under a connection of the client; undefined for a client that hides it. */
export function socketOf(connection: AmqpDriverConnection): SocketLike | undefined {
  const { connection: inner } = connection as { readonly connection?: { readonly stream?: SocketLike } }
  return inner?.stream
}

/**
 * Destroys the socket. The client only half-closes it when heartbeats stop, and a half-open peer would keep the
 * handle, and with it the process, alive for many minutes.
 */
export function destroySocket(connection: AmqpDriverConnection): void {
  socketOf(connection)?.destroy?.()
}

/** True when the socket has handed everything to the operating system; true where it cannot be seen. */
export function socketIsFlushed(connection: AmqpDriverConnection): boolean {
  return (socketOf(connection)?.writableLength ?? 0) === 0
}
