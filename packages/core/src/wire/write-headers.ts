import type { StoredMessage } from '../messages/new-message.ts'
import { isReservedHeader, wireHeaders } from './header-names.ts'
import { writeTrace } from './trace-header.ts'

type WireMessage = Omit<StoredMessage, 'body' | 'createdAt'>

/** Headers of a message on the wire: those of the application, then ours, which win. */
export function writeHeaders(message: WireMessage): Record<string, string> {
  const headers: Record<string, string> = {}
  for (const name in message.headers) {
    const value = Object.hasOwn(message.headers, name) ? message.headers[name] : undefined
    if (value !== undefined && !isReservedHeader(name)) headers[name] = value
  }
  headers[wireHeaders.messageId] = message.id
  headers[wireHeaders.contractName] = message.contractName
  headers[wireHeaders.contractVersion] = String(message.contractVersion)
  const write = (name: string, value: string | undefined): void => {
    if (value !== undefined) headers[name] = value
  }
  write(wireHeaders.correlationId, message.correlationId)
  write(wireHeaders.causationId, message.causationId)
  write(wireHeaders.tenantId, message.tenantId)
  write(wireHeaders.idempotencyKey, message.idempotencyKey)
  write(wireHeaders.orderingKey, message.orderingKey)
  writeTrace(message.trace, headers)
  return headers
}
