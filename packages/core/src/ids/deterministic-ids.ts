import { createHash } from 'node:crypto'
import type { HandlerIdentity } from '../handlers/handler-context.ts'
import { nameUuids } from './uuid.ts'

/** The one namespace of all ids that LiteBus derives. It never changes: ids of stored messages depend on it. */
export const liteBusNamespace = '6f0c1d52-9d0e-5c0b-8d5b-3f6f7b0a4e21'

/** What tells apart the messages that one handler sends. */
export interface SendIdentity {
  /** Handler that sends. */
  readonly from: HandlerIdentity
  /** Contract name of the message that is sent. */
  readonly contractName: string
  /** Body that is sent; used when there is no key. */
  readonly body: Uint8Array
  /** Key given by the user. */
  readonly sendKey?: string
}

/**
 * Id of a message that a handler sends: the same for every run of the handler on the same message, so that a retry
 * creates no new identities. Derived from inbound id, handler, contract and send key; without a key from the body
 * and how often this very body was sent before. Never from the position among all sends: after another branch an
 * index would map one message onto another.
 */
export function idOfSend({ from, contractName, body, sendKey }: SendIdentity): string {
  const parts = [from.messageId, from.handler, contractName]
  if (sendKey !== undefined) return derive([...parts, 'key', sendKey])
  const digest = createHash('sha256').update(body).digest('hex')
  const counted = `${contractName}:${digest}`
  const occurrence = from.sent.get(counted) ?? 0
  from.sent.set(counted, occurrence + 1)
  return derive([...parts, 'body', digest, occurrence])
}

/** Row id of a delivery: one source message delivered to two destinations of a service is two rows. */
export function idOfDelivery(destination: string, sourceId: string): string {
  return idsOfDeliveries(destination)(sourceId)
}

/** The same for many deliveries of one source: most of the name that the id is derived from is written once. */
export function idsOfDeliveries(destination: string): (sourceId: string) => string {
  const beginning = JSON.stringify(['ingress', destination]).slice(0, -1)
  return (sourceId) => idOfName(`${beginning},${JSON.stringify(sourceId)}]`)
}

/**
 * Id that a hop (retry copy, dead-letter copy, redrive) carries into a destination that deduplicates. Only a
 * publish of the same hop repeats it: under the id of the message, a copy would be taken for a duplicate and vanish.
 */
export function idOfHop(hop: {
  readonly messageId: string
  readonly kind: 'retry' | 'deadLetter' | 'redrive'
  readonly attempt: number
  readonly redriveId?: string
}): string {
  return derive(['hop', hop.messageId, hop.kind, hop.attempt, hop.redriveId ?? ''])
}

const idOfName = nameUuids(liteBusNamespace)

function derive(parts: readonly (string | number)[]): string {
  return idOfName(JSON.stringify(parts))
}
