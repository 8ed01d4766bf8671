import type { DeliveryFacts, InboundMessage, Mutable } from '@litebus/core'
import type { FetchedRecord } from './driver.ts'
import { readKey, readRecordHeaders } from './headers.ts'
import type { RecordRetry } from './partition-progress.ts'

const noBody = new Uint8Array()

/** Where a record stands. */
export interface RecordPlace {
  /** Topic. */
  readonly source: string
  /** Partition. */
  readonly partition: number
  /** How often it was handed out, this time included. */
  readonly handedOut: number
  /** What its last return carries. */
  readonly retry: RecordRetry | undefined
}

/** Reads a record; total, whatever its producer wrote. */
export function readDelivery(
  record: FetchedRecord,
  { source, partition, handedOut, retry }: RecordPlace,
): DeliveryFacts {
  const message = readMessage(record, source)
  const facts: Mutable<DeliveryFacts> = {
    message,
    deliveryId: `${source}-${String(partition)}-${String(record.offset)}`,
    partition: String(partition),
    redelivered: handedOut > 1 || retry !== undefined,
  }
  if (retry !== undefined) {
    facts.attempt = retry.attempt
    if (retry.firstFailureAtMs !== undefined) facts.firstFailureAt = new Date(retry.firstFailureAtMs)
  }
  return facts
}

function readMessage(record: FetchedRecord, destination: string): InboundMessage {
  const { headers, messageId, contentType } = readRecordHeaders(record)
  const message: Mutable<InboundMessage> = { destination, body: record.value ?? noBody, headers }
  const orderingKey = readKey(record.key)
  if (messageId !== undefined) message.messageId = messageId
  if (contentType !== undefined) message.contentType = contentType
  if (orderingKey !== undefined) message.orderingKey = orderingKey
  if (record.timestampMs !== undefined) message.timestamp = new Date(record.timestampMs)
  return message
}
