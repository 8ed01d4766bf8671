import type { FetchedRecord, ProducedRecord } from '../driver.ts'
import type { KafkaJsFetchedMessage, KafkaJsHeader, KafkaJsMessage } from './client-shape.ts'

/** A record to be written. */
export function messageOf({ partition, key, value, headers, timestampMs }: ProducedRecord): KafkaJsMessage {
  return {
    partition,
    key: key === null ? null : bufferOf(key),
    value: value === null ? null : bufferOf(value),
    headers: Object.fromEntries(Object.entries(headers).map(([name, bytes]) => [name, bufferOf(bytes)])),
    timestamp: String(timestampMs),
  }
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength)
}

/** A record as it was fetched. */
export function recordOf({
  offset,
  key,
  value,
  headers = {},
  timestamp,
}: KafkaJsFetchedMessage): FetchedRecord {
  const timestampMs = timestamp === '' ? Number.NaN : Number(timestamp)
  return {
    offset: BigInt(offset),
    key: key ?? null,
    value,
    headers: Object.fromEntries(
      Object.entries(headers).flatMap(([name, header]) =>
        header === undefined ? [] : [[name, headerOf(header)]],
      ),
    ),
    timestampMs: Number.isSafeInteger(timestampMs) && timestampMs >= 0 ? timestampMs : undefined,
  }
}

function headerOf(
  value: KafkaJsHeader | readonly KafkaJsHeader[],
): Uint8Array | null | readonly (Uint8Array | null)[] {
  return isList(value) ? value.map(bytesOf) : bytesOf(value)
}

function isList(value: KafkaJsHeader | readonly KafkaJsHeader[]): value is readonly KafkaJsHeader[] {
  return Array.isArray(value)
}

function bytesOf(value: KafkaJsHeader): Uint8Array | null {
  return typeof value === 'string' ? Buffer.from(value) : value
}
