import type { LeasedEnvelope, StoredMessage } from '@litebus/core'
import type { Row } from '../database/database.ts'
import { createMetadataReader, decodeMetadata, decodeTrace } from '../database/metadata.ts'
import { withBody, type BodiesAre } from './body-of-text.ts'

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
    bodies,
    refetch,
  }: {
    readonly owner: string
    readonly suspect: boolean
    readonly bodies: BodiesAre
    readonly refetch: RefetchBodies
  },
): Promise<DecodedLease> {
  const header = JSON.parse(rows.at(-1)?.[10] ?? '{}') as LeaseHeader
  const generation = String(header.generation)
  const damaged = rows.filter((row) => isDamaged(row[12])).map((row) => String(row[0]))
  const refetched = damaged.length === 0 ? undefined : await refetch(damaged)
  const readMetadata = createMetadataReader()
  const envelopes: LeasedEnvelope[] = []
  let dueCount = 0
  let dueMax = 0
  let readyMax = 0
  for (let index = 0; index < rows.length - 1; index += 1) {
    const row = rows[index]
    if (row === undefined) continue
    const [sequence, attempts, firstFailure] = row
    const [attempt, due] = attempts?.includes(':') === true ? attempts.split(':') : [attempts]
    if (due === undefined) readyMax = Math.max(readyMax, Number(sequence))
    else {
      dueCount += 1
      dueMax = Math.max(dueMax, Number(due))
    }
    const message = decodeMessage(row, 3, { body: refetched?.get(String(sequence)), bodies, readMetadata })
    const lease = { id: message.id, sequence: String(sequence), owner, generation }
    const envelope = { lease, message, attempt: Number(attempt), suspect }
    envelopes.push(
      firstFailure == null ? envelope : { ...envelope, firstFailureAt: new Date(Number(firstFailure)) },
    )
  }
  return { envelopes, dueCount, dueMax, readyMax, header }
}

/**
 * Builds a message from columns `id, created, tenant, contract, version, ordering key, key, metadata, trace, body` at an
 * offset.
 */
export function decodeMessage(
  row: Row,
  offset: number,
  {
    body,
    bodies,
    readMetadata = decodeMetadata,
  }: {
    readonly body?: Buffer | undefined
    readonly bodies?: BodiesAre
    readonly readMetadata?: typeof decodeMetadata
  } = {},
): StoredMessage {
  const tenantId = row[offset + 2]
  const orderingKey = row[offset + 5]
  const idempotencyKey = row[offset + 6]
  const metadata = row[offset + 7]
  const trace = decodeTrace(row[offset + 8])
  // Assigned one by one: most messages have none of them, and copying what is absent would cost as much as the rest.
  const message = withBody(
    {
      id: String(row[offset]),
      contractName: String(row[offset + 3]),
      contractVersion: Number(row[offset + 4]),
      createdAt: new Date(Number(row[offset + 1])),
    },
    body ?? row[offset + 9],
    bodies,
  )
  if (tenantId != null && tenantId !== '') message.tenantId = tenantId
  if (orderingKey != null) message.orderingKey = orderingKey
  if (idempotencyKey != null) message.idempotencyKey = idempotencyKey
  if (trace !== undefined) message.trace = trace
  return metadata == null ? message : Object.assign(message, readMetadata(metadata))
}

/**
 * The driver reads every binary value as UTF-8 text. That is exact for bytes that are valid UTF-8, which JSON is,
 * and spares both sides the hexadecimal form; anything else shows as U+FFFD. A driver that answers bytes is exact.
 */
function isDamaged(value: string | null | undefined): boolean {
  return typeof value === 'string' && value.includes('\uFFFD')
}
