import { admit } from '@litebus/consumer'
import {
  InboxIngressError,
  InvocationError,
  PayloadError,
  isLiteBusError,
  isStorableText,
  readHeaders,
  readLenientText,
  wireHeaders,
  type ContractRegistry,
  type DecodedMessage,
  type Delivery,
  type WireMetadata,
  type Mutable,
  type WriteItem,
  type WriteOptions,
} from '@litebus/core'
import { checkCarried } from './check-carried.ts'
import type { ResolvedIngressOptions } from './ingress-options.ts'
import { nameRows, type RowNames } from './row-names.ts'

/**
 * Turns a delivery into what the inbox accepts, in this order: size and bounds, identity, authorization, required
 * headers, contract, body and schema, metadata. The received bytes are stored as they are.
 *
 * @throws InboxIngressError, MessageContractNotRegisteredError or PayloadError, all of them terminal; and what the
 * authorization callback throws, wrapped.
 */
export type MapDelivery = (delivery: Delivery) => WriteItem | Promise<WriteItem>

/** Builds the mapping of one source. */
export function createDeliveryMapping(
  contracts: ContractRegistry,
  options: ResolvedIngressOptions,
): MapDelivery {
  const names = nameRows(options.source)
  return (delivery) => {
    const { message } = delivery
    admit(message, options.maxMessageBytes)
    const sourceId = sourceIdOf(delivery, options)
    const read = (): WriteItem | Promise<WriteItem> => {
      const { trustApplicationHeaders, clock } = options
      const metadata = readHeaders(message, { trustApplicationHeaders, nowMs: clock.now() })
      checkCarried(metadata)
      const decoded = decode(contracts, metadata, message.body)
      const parts = { metadata, body: message.body, sourceId }
      return decoded instanceof Promise
        ? decoded.then(({ message: payload }) => itemOf(payload, parts, names))
        : itemOf(decoded.message, parts, names)
    }
    return options.authorizeDelivery === undefined ? read() : authorize(delivery, options).then(read)
  }
}

interface ItemParts {
  readonly metadata: WireMetadata
  readonly body: Uint8Array
  readonly sourceId: string | undefined
}

function itemOf(
  payload: unknown,
  { metadata, body, sourceId }: ItemParts,
  { idOf, keyOf }: RowNames,
): WriteItem {
  const { contractName: name, contractVersion: version } = metadata
  const key = metadata.idempotencyKey ?? (sourceId === undefined ? undefined : keyOf(sourceId))
  const options: Mutable<WriteOptions> = { body, bodyIsValidated: true }
  if (sourceId !== undefined) {
    options.messageId = idOf(sourceId)
    options.sourceId = sourceId
  }
  if (key !== undefined) options.idempotency = { key }
  carry(metadata, options)
  return { contract: { name, version }, message: payload, options }
}

/** What is there and not empty; most deliveries carry nothing of it. */
function carry(metadata: WireMetadata, options: Mutable<WriteOptions>): void {
  const { tenantId, orderingKey, correlationId, causationId, trace, headers, visibility } = metadata
  if (tenantId !== undefined && tenantId !== '') options.tenantId = tenantId
  if (orderingKey !== undefined && orderingKey !== '') options.orderingKey = orderingKey
  if (correlationId !== undefined && correlationId !== '') options.correlationId = correlationId
  if (causationId !== undefined && causationId !== '') options.causationId = causationId
  if (trace !== undefined) options.trace = trace
  if (Object.keys(headers).length > 0) options.headers = headers
  if (visibility !== undefined) options.visibility = visibility
}

function sourceIdOf({ message, deliveryId }: Delivery, options: ResolvedIngressOptions): string | undefined {
  const own =
    options.identity === 'message' ? readLenientText(message.headers, wireHeaders.messageId) : undefined
  const id = own ?? deliveryId ?? message.messageId
  if (id === undefined || id === '') {
    if (!options.requireStableIdentity) return undefined
    throw new InboxIngressError(
      'expected a delivery with a message id, found none; publish with one, or set requireStableIdentity: false and accept duplicates',
      { deliveryFault: { part: 'identity', expected: 'a message id', found: 0 } },
    )
  }
  if (id.length > 400 || !isStorableText(id)) {
    const expected = 'at most 400 characters of well-formed text without NUL'
    throw new InboxIngressError(
      `expected a message id of ${expected}, found ${String(id.length)} characters`,
      { deliveryFault: { part: 'identity', expected, found: id.length } },
    )
  }
  return id
}

async function authorize(
  { message }: Delivery,
  { authorizeDelivery }: ResolvedIngressOptions,
): Promise<void> {
  if (authorizeDelivery === undefined) return
  let allowed: unknown
  try {
    allowed = await authorizeDelivery(message)
  } catch (cause) {
    throw new InvocationError('authorizeDelivery failed', { cause })
  }
  // Neither let in nor lost for the mistake of a callback that forgot its answer: it goes back.
  if (typeof allowed !== 'boolean') {
    const cause = new TypeError(`expected true or false, found ${typeof allowed}`)
    throw new InvocationError('authorizeDelivery gave no answer', { cause })
  }
  if (!allowed) {
    throw new InboxIngressError(
      'expected a delivery that authorizeDelivery allows, found one that it refuses',
      { deliveryFault: { part: 'authorization' } },
    )
  }
}

/** Whatever the body makes a serializer, a schema or an upcaster throw is the fault of the payload. */
function decode(
  contracts: ContractRegistry,
  { contractName, contractVersion }: WireMetadata,
  body: Uint8Array,
): DecodedMessage | Promise<DecodedMessage> {
  const refuse = (cause: unknown): never => {
    if (isLiteBusError(cause)) throw cause
    throw new PayloadError('the body could not be read', { cause, deliveryFault: { part: 'body' } })
  }
  try {
    const decoded = contracts.decodeNow(contractName, contractVersion, body)
    return decoded instanceof Promise ? decoded.catch(refuse) : decoded
  } catch (cause) {
    return refuse(cause)
  }
}
