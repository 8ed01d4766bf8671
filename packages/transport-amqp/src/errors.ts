import { TopologyMismatchError, TransportClosedError, TransportUnavailableError } from '@litebus/core'
import { readServerClose } from './server-close.ts'

const credentialsInUrl = /\/\/[^/@\s]*@/gu

/**
 * Text of an error of the client or the broker without credentials: those of a URL in it, and the password in use
 * wherever it stands.
 */
export function safeText(error: unknown, secrets: readonly string[] = []): string {
  const close = readServerClose(error)
  const code = (error as { readonly code?: unknown } | null | undefined)?.code
  // Connection errors to several addresses come as an aggregate with a code and no text.
  const fallback = typeof code === 'string' ? code : 'no reason given'
  const text = close.text === '' ? fallback : close.text
  return secrets
    .filter((secret) => secret !== '')
    .reduce((safe, secret) => safe.replaceAll(secret, '***'), text.replaceAll(credentialsInUrl, '//***@'))
}

/** The broker cannot be used now. */
export function unavailable(what: string, reason: string, cause?: unknown): TransportUnavailableError {
  return new TransportUnavailableError(`${what}: ${reason}`, cause === undefined ? {} : { cause })
}

/** The transport was closed. */
export function closedTransport(): TransportClosedError {
  return new TransportClosedError('the AMQP transport was closed by its owner')
}

/** The source does not exist. */
export function missingSource(source: string): TopologyMismatchError {
  return new TopologyMismatchError(
    `expected a queue named ${source} in this virtual host, found none; declare it in topology.queues, or create it before the consumer starts`,
  )
}

/** A destination does not exist. */
export function missingDestination(name: string): TopologyMismatchError {
  return new TopologyMismatchError(
    `expected a queue or an exchange named ${name} in this virtual host, found neither; declare it in topology, or create it before it is used`,
  )
}
