import type { LeasedEnvelope, StoredMessage } from '@litebus/core'
import type { Row } from '../database/database.ts'
import { decodeMetadata, decodeTrace } from '../database/metadata.ts'

/** Header of a lease call, as the functions write it; fields that a function does not know are absent. */
interface LeaseHeader {
  readonly generation: number
  readonly sequence?: number
  readonly parked?: number
  readonly now?: number
  readonly suspect?: number | null
  readonly nextDue?: number | null
  readonly xmin?: string
  readonly xid?: string | null
  readonly lanes?: boolean | null
  readonly walked?: number
  readonly last?: string | null
  readonly suspects?: readonly string[] | null
  readonly candidates?: number
}

/** Leased rows and the header that closes them. */
export interface DecodedLease {
  readonly envelopes: LeasedEnvelope[]
  /** Rows that were found by due time. */
  readonly dueCount: number
  /** Latest due time among them, in microseconds. */
  readonly dueMax: number
  /** Highest sequence among the others. */
  readonly readyMax: number
  readonly header: LeaseHeader
}

/** Bytes that the driver could not give back are fetched again in another format. */
export type RefetchBodies = (sequences: readonly string[]) => Promise<ReadonlyMap<string, Buffer>>

/** Splits off the header and builds the envelopes. */
export async function decodeLeased(
  rows: readonly Row[],
  {
    owner,
    suspect,
    refetch,
  }: { readonly owner: string; readonly suspect: boolean; readonly refetch: RefetchBodies },
): Promise<DecodedLease> {
  const header = JSON.parse(rows.at(-1)?.[10] ?? '{}') as LeaseHeader
  const generation = String(header.generation)
  const damaged = rows.filter((row) => isDamaged(row[12])).map((row) => String(row[0]))
  const bodies = damaged.length === 0 ? undefined : await refetch(damaged)
  const envelopes: LeasedEnvelope[] = []
  let dueCount = 0
  let dueMax = 0
  let readyMax = 0
  for (let index = 0; index < rows.length - 1; index += 1) {
    const row = rows[index]
    if (row === undefined) continue
    const [sequence, attempts, firstFailure] = row
    const [attempt, due] = String(attempts).split(':')
    if (due === undefined) readyMax = Math.max(readyMax, Number(sequence))
    else {
      dueCount += 1
      dueMax = Math.max(dueMax, Number(due))
    }
    const body = bodies?.get(String(sequence))
    const message = decodeMessage(row, 3, body)
    envelopes.push({
      lease: { id: message.id, sequence: String(sequence), owner, generation },
      message,
      attempt: Number(attempt),
      suspect,
      ...(firstFailure == null ? {} : { firstFailureAt: new Date(Number(firstFailure)) }),
    })
  }
  return { envelopes, dueCount, dueMax, readyMax, header }
}

/**
 * Builds a message from columns `id, created, tenant, contract, version, ordering key, key, metadata, trace, body` at an
 * offset.
 */
export function decodeMessage(row: Row, offset: number, body?: Buffer): StoredMessage {
  const tenantId = row[offset + 2]
  const orderingKey = row[offset + 5]
  const idempotencyKey = row[offset + 6]
  const trace = decodeTrace(row[offset + 8])
  return {
    id: String(row[offset]),
    contractName: String(row[offset + 3]),
    contractVersion: Number(row[offset + 4]),
    body: body ?? bytesOf(row[offset + 9]),
    createdAt: new Date(Number(row[offset + 1])),
    ...(tenantId == null || tenantId === '' ? undefined : { tenantId }),
    ...(orderingKey == null ? undefined : { orderingKey }),
    ...(idempotencyKey == null ? undefined : { idempotencyKey }),
    ...(trace === undefined ? undefined : { trace }),
    ...decodeMetadata(row[offset + 7]),
  }
}

/**
 * The driver reads every binary value as UTF-8 text. That is exact for bytes that are valid UTF-8, which JSON is,
 * and spares both sides the hexadecimal form; anything else shows as U+FFFD. A driver that answers bytes is exact.
 */
function isDamaged(value: string | null | undefined): boolean {
  return typeof value === 'string' && value.includes('\uFFFD')
}

function bytesOf(value: unknown): Buffer {
  if (typeof value === 'string') return Buffer.from(value, 'utf8')
  return value instanceof Uint8Array ? Buffer.from(value) : Buffer.alloc(0)
}
