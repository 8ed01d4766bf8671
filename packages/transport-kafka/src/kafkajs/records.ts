import type { FetchedRecord, ProducedRecord } from '../driver.ts'
import type { KafkaJsFetchedMessage, KafkaJsMessage } from './client-shape.ts'

/** A record to be written; the client gives it the time of its request. */
export function messageOf({ partition, key, value, headers }: ProducedRecord): KafkaJsMessage {
  return {
    partition,
    key: key === null ? null : bufferOf(key),
    value: value === null ? null : bufferOf(value),
    headers,
  }
}

function bufferOf(bytes: Uint8Array): Buffer {
  return Buffer.isBuffer(bytes) ? bytes : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
}

const noHeaders: FetchedRecord['headers'] = Object.freeze({})

/** A record as it was fetched. */
export function recordOf({ offset, key, value, headers, timestamp }: KafkaJsFetchedMessage): FetchedRecord {
  const timestampMs = timestamp === '' ? Number.NaN : Number(timestamp)
  return {
    offset: BigInt(offset),
    key: key ?? null,
    value,
    headers: headers ?? noHeaders,
    timestampMs: Number.isSafeInteger(timestampMs) && timestampMs >= 0 ? timestampMs : undefined,
  }
}
