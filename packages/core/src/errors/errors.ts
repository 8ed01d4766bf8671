import { LiteBusError, type LiteBusErrorOptions } from './litebus-error.ts'

/** A value passed by the caller is not what the call takes. */
export class ArgumentError extends LiteBusError {
  /** Builds the error with code `ARGUMENT_INVALID`. */
  constructor(message: string, options?: LiteBusErrorOptions) {
    super('ARGUMENT_INVALID', message, options)
  }
}

/** Options given to a factory are wrong. {@link OptionsError.faults} names every one of them. */
export class OptionsError extends LiteBusError {
  /** One sentence a fault: what was expected, what was found. */
  readonly faults: readonly string[]

  /** Builds the error with code `OPTIONS_INVALID` from all faults found. */
  constructor(subject: string, faults: readonly string[], options?: LiteBusErrorOptions) {
    super('OPTIONS_INVALID', `${subject}: ${faults.join('; ')}`, options)
    this.faults = faults
  }
}

/** The call is not possible in this state. */
export class InvalidOperationError extends LiteBusError {
  /** Builds the error with code `INVALID_OPERATION`. */
  constructor(message: string, options?: LiteBusErrorOptions) {
    super('INVALID_OPERATION', message, options)
  }
}

/** Text that should follow a format does not. */
export class FormatError extends LiteBusError {
  /** Builds the error with code `FORMAT_INVALID`. */
  constructor(message: string, options?: LiteBusErrorOptions) {
    super('FORMAT_INVALID', message, options)
  }
}

/** A body that cannot be parsed, validated, lifted to the known version or serialized. */
export class PayloadError extends LiteBusError {
  /** Builds the error with code `PAYLOAD_INVALID`. The message never quotes the payload. */
  constructor(message: string, options?: LiteBusErrorOptions) {
    super('PAYLOAD_INVALID', message, options)
  }
}

/** No contract of that name and version is registered here. */
export class MessageContractNotRegisteredError extends LiteBusError {
  /** Builds the error with code `CONTRACT_NOT_REGISTERED`. */
  constructor(message: string, options?: LiteBusErrorOptions) {
    super('CONTRACT_NOT_REGISTERED', message, options)
  }
}

/** A message names no handler that could be called. */
export class InboxDispatchError extends LiteBusError {
  /** Builds the error with code `INBOX_DISPATCH_FAILED`. */
  constructor(message: string, options?: LiteBusErrorOptions) {
    super('INBOX_DISPATCH_FAILED', message, options)
  }
}

/** The delivery itself is wrong: size, identity, authorization, headers or mapping. */
export class InboxIngressError extends LiteBusError {
  /** Builds the error with code `INBOX_INGRESS_REFUSED`. */
  constructor(message: string, options?: LiteBusErrorOptions) {
    super('INBOX_INGRESS_REFUSED', message, options)
  }
}

/** The store refuses this one message, or is full by its own limit. */
export class InboxStorageError extends LiteBusError {
  /** Builds the error with code `INBOX_STORAGE_REFUSED`. */
  constructor(message: string, options?: LiteBusErrorOptions) {
    super('INBOX_STORAGE_REFUSED', message, options)
  }
}

/** The store cannot work now: connection, timeout, conflict, read-only, disk or schema. Retry later. */
export class StoreUnavailableError extends LiteBusError {
  /** Builds the error with code `STORE_UNAVAILABLE`. */
  constructor(message: string, options?: LiteBusErrorOptions) {
    super('STORE_UNAVAILABLE', message, options)
  }
}

/** The broker cannot be used now: connection, blocked, timeout. Retry later. */
export class TransportUnavailableError extends LiteBusError {
  /** Builds the error with code `TRANSPORT_UNAVAILABLE`. */
  constructor(message: string, options?: LiteBusErrorOptions) {
    super('TRANSPORT_UNAVAILABLE', message, options)
  }
}

/** The transport was closed by its owner. */
export class TransportClosedError extends LiteBusError {
  /** Builds the error with code `TRANSPORT_CLOSED`. */
  constructor(message: string, options?: LiteBusErrorOptions) {
    super('TRANSPORT_CLOSED', message, options)
  }
}

/** The broker holds something else than what was declared; the message names both sides. */
export class TopologyMismatchError extends LiteBusError {
  /** Builds the error with code `TOPOLOGY_MISMATCH`. */
  constructor(message: string, options?: LiteBusErrorOptions) {
    super('TOPOLOGY_MISMATCH', message, options)
  }
}

/** A wrapper around what a called function threw; policies look at its `cause`. */
export class InvocationError extends LiteBusError {
  /** Builds the error with code `INVOCATION_FAILED`. */
  constructor(message: string, options: { readonly cause: unknown }) {
    super('INVOCATION_FAILED', message, options)
  }
}
