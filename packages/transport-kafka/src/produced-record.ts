import { publishFailures, type Failure, type OutboundMessage, type PublishOutcome } from '@litebus/core'
import type { DescribedPartition, ProducedRecord } from './driver.ts'
import { createHeaderWriter, tombstoneHeader, writeKey } from './headers.ts'
import type { ResolvedKafkaOptions } from './options.ts'
import { partitionOfKey } from './partitioner.ts'

/** What a record is made of, wherever it goes, with its bytes. */
interface RecordParts extends Omit<ProducedRecord, 'partition'> {
  /** Bytes of all of it, before compression. */
  readonly bytes: number
}

/** A message as the parts of a record, or why it cannot be sent at all. */
export type PreparedRecord = { readonly parts: RecordParts } | { readonly refused: PublishOutcome }

/** Room for what a record has around its parts. */
const recordOverheadBytes = 64

/** Builds what looks at a message before anything is sent. */
export function createRecordPreparation({
  maxMessageBytes,
}: Pick<ResolvedKafkaOptions, 'maxMessageBytes'>): (message: OutboundMessage) => PreparedRecord {
  const writeHeaders = createHeaderWriter()
  return (message) => {
    const written = writeHeaders(message)
    if (written === undefined) return rejected(publishFailures.headerInvalid)
    const isTombstone = message.headers[tombstoneHeader] !== undefined && message.body.byteLength === 0
    const key = writeKey(message.orderingKey)
    const value = isTombstone ? null : message.body
    const { headers } = written
    const bytes = recordOverheadBytes + written.bytes + (key?.byteLength ?? 0) + (value?.byteLength ?? 0)
    if (bytes > maxMessageBytes) return rejected(publishFailures.messageTooLarge)
    if ((message.delayMs ?? 0) > 0) return rejected(publishFailures.delayUnsupported)
    return { parts: { key, value, headers, bytes } }
  }
}

/** Where a record of a key goes, or else one whose turn it is: messages of one ordering key have one partition. */
export function placeRecord(
  key: Uint8Array | null,
  partitions: readonly DescribedPartition[],
  turn: number,
): DescribedPartition {
  const index = key === null ? turn % partitions.length : partitionOfKey(key, partitions.length)
  return partitions[index] ?? { partition: index, leader: -1 }
}

function rejected(failure: Failure): { readonly refused: PublishOutcome } {
  return { refused: { status: 'rejected', failure } }
}
