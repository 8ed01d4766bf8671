import { publishFailures, type Failure, type OutboundMessage, type PublishOutcome } from '@litebus/core'
import type { DescribedPartition, ProducedRecord } from './driver.ts'
import { headersAreCarried, recordBytes, tombstoneHeader, writeKey, writeRecordHeaders } from './headers.ts'
import type { ResolvedKafkaOptions } from './options.ts'
import { partitionOfKey } from './partitioner.ts'

/** Why a message cannot be sent at all; undefined where it can. */
export function refusalOfMessage(
  message: OutboundMessage,
  { maxMessageBytes }: Pick<ResolvedKafkaOptions, 'maxMessageBytes'>,
): PublishOutcome | undefined {
  if (!headersAreCarried(message)) return rejected(publishFailures.headerInvalid)
  if (recordBytes(partsOf(message)) > maxMessageBytes) return rejected(publishFailures.messageTooLarge)
  return (message.delayMs ?? 0) > 0 ? rejected(publishFailures.delayUnsupported) : undefined
}

/** A message as a record, with the place that it goes to. */
export interface PlacedRecord {
  /** Partition. */
  readonly partition: number
  /** Node that leads it. */
  readonly leader: number
  /** The record. */
  readonly record: ProducedRecord
  /** Its bytes. */
  readonly bytes: number
}

/** Messages of one ordering key have one partition; those without a key take the partitions in turn. */
export function toRecord(
  message: OutboundMessage,
  partitions: readonly DescribedPartition[],
  { turn, timestampMs }: { readonly turn: number; readonly timestampMs: number },
): PlacedRecord {
  const parts = partsOf(message)
  const index = parts.key === null ? turn % partitions.length : partitionOfKey(parts.key, partitions.length)
  const { partition, leader } = partitions[index] ?? { partition: index, leader: -1 }
  return { partition, leader, record: { ...parts, partition, timestampMs }, bytes: recordBytes(parts) }
}

function partsOf(message: OutboundMessage): Omit<ProducedRecord, 'partition' | 'timestampMs'> {
  const isTombstone = message.headers[tombstoneHeader] !== undefined && message.body.byteLength === 0
  return {
    key: writeKey(message.orderingKey),
    value: isTombstone ? null : message.body,
    headers: writeRecordHeaders(message),
  }
}

function rejected(failure: Failure): PublishOutcome {
  return { status: 'rejected', failure }
}
