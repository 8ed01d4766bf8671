import { createHash } from 'node:crypto'
import type { KnownMessage, NewMessage, StoredReceipt } from '@litebus/core'
import type { Run } from '../database/database.ts'
import { decodeTrace } from '../database/metadata.ts'
import type { AxisNames } from '../schema/names.ts'

/** What the ids and keys of some messages point at. */
export interface KnownMessages {
  readonly byId: ReadonlyMap<string, Known>
  /** By {@link keyScopeOf}. */
  readonly byKey: ReadonlyMap<string, Known>
}

/** A stored message, as far as the next write may meet it. */
export interface Known {
  readonly receipt: StoredReceipt
  readonly idempotencyKey: string | undefined
  /** SHA-256 in hexadecimal. */
  readonly digest: string
}

/** Names an idempotency key within its tenant. */
export function keyScopeOf(tenantId: string | undefined, key: string): string {
  return `${tenantId ?? ''}\0${key}`
}

/** SHA-256 of a body. */
function digestOf(body: Uint8Array): string {
  return createHash('sha256').update(body).digest('hex')
}

/** Reads what is stored under the ids and keys of the messages, with a snapshot of its own. */
export async function readKnown(
  run: Run,
  names: AxisNames,
  messages: readonly NewMessage[],
): Promise<KnownMessages> {
  const columns = `m.id::text, m.contract_name, m.contract_version::text,
    (date_part('epoch', m.created_at) * 1000)::bigint::text, m.tenant, m.idempotency_key, m.trace,
    encode(coalesce(m.body_digest, sha256(m.body)), 'hex')`
  const keyed = messages.filter((message) => message.idempotency !== undefined)
  const rows = await run(
    `select ${columns} from ${names.message} m where m.id = any ($1::uuid[])
    union
    select ${columns} from unnest($2::text[], $3::text[]) u(tenant, key)
      join ${names.message} m on m.tenant = u.tenant and m.idempotency_key = u.key`,
    [
      messages.map((message) => message.id),
      keyed.map((message) => message.tenantId ?? ''),
      keyed.map((message) => message.idempotency?.key),
    ],
  )
  const byId = new Map<string, Known>()
  const byKey = new Map<string, Known>()
  for (const [id, contractName, version, created, tenant, key, traceText, digest] of rows) {
    const trace = decodeTrace(traceText)
    const known: Known = {
      receipt: {
        id: String(id),
        contractName: String(contractName),
        contractVersion: Number(version),
        createdAt: new Date(Number(created)),
        ...(tenant == null || tenant === '' ? {} : { tenantId: tenant }),
        ...(trace === undefined ? {} : { trace }),
      },
      idempotencyKey: key ?? undefined,
      digest: String(digest),
    }
    byId.set(known.receipt.id, known)
    if (key != null) byKey.set(keyScopeOf(tenant ?? '', key), known)
  }
  return { byId, byKey }
}

/** A stored message as it meets a new one. */
export function meet(known: Known | undefined, message: NewMessage): KnownMessage | undefined {
  if (known === undefined) return undefined
  return {
    receipt: known.receipt,
    sameBody: known.receipt.id === message.id && known.digest === digestOf(message.body),
    ...(known.idempotencyKey === undefined ? {} : { idempotencyKey: known.idempotencyKey }),
  }
}
