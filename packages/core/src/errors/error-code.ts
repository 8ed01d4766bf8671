/**
 * Every code a {@link LiteBusError} can carry. Codes are public API: they do not change within a major version.
 *
 * - `ARGUMENT_INVALID`: a value passed by the caller is not what the call takes.
 * - `OPTIONS_INVALID`: options given to a factory; the message lists every fault at once.
 * - `INVALID_OPERATION`: the call is not possible in this state.
 * - `FORMAT_INVALID`: text that should follow a format does not.
 * - `PAYLOAD_INVALID`: a body that cannot be parsed, validated, lifted or serialized.
 * - `CONTRACT_NOT_REGISTERED`: no contract of that name and version is known here.
 * - `IDEMPOTENCY_CONFLICT`: a key or id is taken by another message, or by any message under `strict`.
 * - `DUPLICATE_IN_FLIGHT`: another transaction is writing the same key; retry after it ends.
 * - `INBOX_DISPATCH_FAILED`: no handler, or one that cannot be called.
 * - `INBOX_INGRESS_REFUSED`: the delivery itself is wrong (size, identity, headers, authorization, mapping).
 * - `INBOX_STORAGE_REFUSED`: the store refuses this one message, or is full by its own limit.
 * - `STORE_UNAVAILABLE`: the store cannot work now; nothing was written by this call, or its outcome is unknown.
 * - `TRANSPORT_UNAVAILABLE`: the broker cannot be used now.
 * - `TRANSPORT_CLOSED`: the transport was closed by its owner.
 * - `TOPOLOGY_MISMATCH`: the broker holds something else than what was declared.
 * - `INVOCATION_FAILED`: a wrapper around the error that a called function threw, kept as `cause`.
 */
export type LiteBusErrorCode =
  | 'ARGUMENT_INVALID'
  | 'OPTIONS_INVALID'
  | 'INVALID_OPERATION'
  | 'FORMAT_INVALID'
  | 'PAYLOAD_INVALID'
  | 'CONTRACT_NOT_REGISTERED'
  | 'IDEMPOTENCY_CONFLICT'
  | 'DUPLICATE_IN_FLIGHT'
  | 'INBOX_DISPATCH_FAILED'
  | 'INBOX_INGRESS_REFUSED'
  | 'INBOX_STORAGE_REFUSED'
  | 'STORE_UNAVAILABLE'
  | 'TRANSPORT_UNAVAILABLE'
  | 'TRANSPORT_CLOSED'
  | 'TOPOLOGY_MISMATCH'
  | 'INVOCATION_FAILED'
