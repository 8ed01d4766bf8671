import type { Failure } from '../policies/failure.ts'

/**
 * Why a publish was not confirmed, in words shared by all transports: adapters answer with these, so that nothing
 * else has to know which broker it was. Adapters may add codes of their own, documented in their READMEs.
 */
export const publishFailures: Readonly<
  Record<
    | 'unroutable'
    | 'destinationMissing'
    | 'messageTooLarge'
    | 'headerInvalid'
    | 'delayUnsupported'
    | 'brokerRefused'
    | 'topologyMismatch'
    | 'timeout'
    | 'cancelled'
    | 'connectionLost'
    | 'connectionBlocked'
    | 'orderHeld'
    | 'closed',
    Failure
  >
> = Object.freeze({
  /** The broker took it and found no queue for it. */
  unroutable: { category: 'DEPENDENCY', code: 'UNROUTABLE' },
  /** The queue, topic or exchange does not exist. */
  destinationMissing: { category: 'DEPENDENCY', code: 'DESTINATION_MISSING' },
  /** Larger than the destination takes; nothing was sent. */
  messageTooLarge: { category: 'VALIDATION', code: 'MESSAGE_TOO_LARGE' },
  /** A header, id or name that the protocol cannot carry; nothing was sent. */
  headerInvalid: { category: 'VALIDATION', code: 'HEADER_INVALID' },
  /** The destination cannot delay this long; nothing was sent. */
  delayUnsupported: { category: 'CONFIGURATION', code: 'DELAY_UNSUPPORTED' },
  /** The broker refused this message, for example because a queue is full. */
  brokerRefused: { category: 'THROTTLED', code: 'BROKER_REFUSED' },
  /** The broker holds something else than what was declared for the destination; nothing was sent. */
  topologyMismatch: { category: 'CONFIGURATION', code: 'TOPOLOGY_MISMATCH' },
  /** No answer in time. */
  timeout: { category: 'TIMEOUT', code: 'PUBLISH_TIMEOUT' },
  /** The caller gave up. */
  cancelled: { category: 'CANCELLED', code: 'PUBLISH_CANCELLED' },
  /** There is no connection, or it went away before the answer. */
  connectionLost: { category: 'DEPENDENCY', code: 'CONNECTION_LOST' },
  /** The broker takes no publishes now and did not change its mind in time. */
  connectionBlocked: { category: 'THROTTLED', code: 'CONNECTION_BLOCKED' },
  /** An earlier message of the same ordering key was not confirmed; nothing was sent. */
  orderHeld: { category: 'DEPENDENCY', code: 'ORDER_HELD' },
  /** The transport was closed by its owner. */
  closed: { category: 'CANCELLED', code: 'TRANSPORT_CLOSED' },
})
