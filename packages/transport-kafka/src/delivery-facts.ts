import type { DeliveryFacts } from '@litebus/core'
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
  const { headers, messageId, contentType } = readRecordHeaders(record)
  const orderingKey = readKey(record.key)
  return {
    deliveryId: `${source}-${String(partition)}-${String(record.offset)}`,
    partition: String(partition),
    redelivered: handedOut > 1 || retry !== undefined,
    ...(retry === undefined ? {} : { attempt: retry.attempt }),
    ...(retry?.firstFailureAtMs === undefined ? {} : { firstFailureAt: new Date(retry.firstFailureAtMs) }),
    message: {
      destination: source,
      body: record.value ?? noBody,
      headers,
      ...(messageId === undefined ? {} : { messageId }),
      ...(contentType === undefined ? {} : { contentType }),
      ...(orderingKey === undefined ? {} : { orderingKey }),
      ...(record.timestampMs === undefined ? {} : { timestamp: new Date(record.timestampMs) }),
    },
  }
}
