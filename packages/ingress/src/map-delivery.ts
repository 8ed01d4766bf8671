import { admit } from '@litebus/consumer'
import {
  idOfDelivery,
  InboxIngressError,
  InvocationError,
  PayloadError,
  isLiteBusError,
  readHeaders,
  readLenientText,
  storeLimits,
  wireHeaders,
  type ContractRegistry,
  type Delivery,
  type WireMetadata,
  type WriteItem,
} from '@litebus/core'
import type { ResolvedIngressOptions } from './ingress-options.ts'

/**
 * Turns a delivery into what the inbox accepts, in this order: size and bounds, identity, authorization, required
 * headers, contract, body and schema, metadata. The received bytes are stored as they are.
 *
 * @throws InboxIngressError, MessageContractNotRegisteredError or PayloadError, all of them terminal; and what the
 * authorization callback throws, wrapped.
 */
export async function mapDelivery(
  delivery: Delivery,
  contracts: ContractRegistry,
  options: ResolvedIngressOptions,
): Promise<WriteItem> {
  const { message } = delivery
  admit(message, options.maxMessageBytes)
  const sourceId = sourceIdOf(delivery, options)
  await authorize(delivery, options)
  const metadata = readHeaders(message, {
    trustApplicationHeaders: options.trustApplicationHeaders,
    nowMs: options.clock.now(),
  })
  const { contractName: name, contractVersion: version } = metadata
  const { message: payload } = await decode(contracts, metadata, message.body)
  const { source } = options
  const key = metadata.idempotencyKey ?? (sourceId === undefined ? undefined : keyOf(source, sourceId))
  return {
    contract: { name, version },
    message: payload,
    options: {
      body: message.body,
      bodyIsValidated: true,
      ...(sourceId === undefined ? {} : { messageId: idOfDelivery(source, sourceId), sourceId }),
      ...(key === undefined ? {} : { idempotency: { key } }),
      ...pick(metadata),
    },
  }
}

/** Readable while it fits; the id of the row says the same in any length. */
function keyOf(source: string, sourceId: string): string {
  const key = `ingress:${source}:${sourceId}`
  return key.length <= storeLimits.keyLength ? key : `ingress:${idOfDelivery(source, sourceId)}`
}

type Carried =
  'tenantId' | 'orderingKey' | 'correlationId' | 'causationId' | 'trace' | 'headers' | 'visibility'

function pick(metadata: WireMetadata): Pick<WireMetadata, Carried> {
  const { tenantId, orderingKey, correlationId, causationId, trace, headers, visibility } = metadata
  const fields = { tenantId, orderingKey, correlationId, causationId, trace, headers, visibility }
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== ''),
  ) as Pick<WireMetadata, Carried>
}

function sourceIdOf({ message, deliveryId }: Delivery, options: ResolvedIngressOptions): string | undefined {
  const own =
    options.identity === 'message' ? readLenientText(message.headers, wireHeaders.messageId) : undefined
  const id = own ?? deliveryId ?? message.messageId
  if (id === undefined || id === '') {
    if (!options.requireStableIdentity) return undefined
    throw new InboxIngressError(
      'expected a delivery with a message id, found none; publish with one, or set requireStableIdentity: false and accept duplicates',
    )
  }
  if (id.length > 400 || id.includes('\0') || !id.isWellFormed()) {
    throw new InboxIngressError(
      `expected a message id of at most 400 characters without NUL, found ${String(id.length)} characters`,
    )
  }
  return id
}

async function authorize(
  { message }: Delivery,
  { authorizeDelivery }: ResolvedIngressOptions,
): Promise<void> {
  if (authorizeDelivery === undefined) return
  let allowed: boolean
  try {
    allowed = await authorizeDelivery(message)
  } catch (cause) {
    throw new InvocationError('authorizeDelivery failed', { cause })
  }
  if (!allowed)
    throw new InboxIngressError(
      'expected a delivery that authorizeDelivery allows, found one that it refuses',
    )
}

/** Whatever the body makes a serializer, a schema or an upcaster throw is the fault of the payload. */
async function decode(
  contracts: ContractRegistry,
  { contractName, contractVersion }: WireMetadata,
  body: Uint8Array,
): Promise<{ readonly message: unknown }> {
  try {
    return await contracts.decode(contractName, contractVersion, body)
  } catch (cause) {
    if (isLiteBusError(cause)) throw cause
    throw new PayloadError('the body could not be read', { cause })
  }
}
