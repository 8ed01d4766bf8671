import { describe, expect, it } from '@jest/globals'
import { decodeMetadata, encodeMetadata } from '../src/database/metadata.ts'

const message = { id: 'a', contractName: 'order-placed', contractVersion: 1, body: Buffer.alloc(0) }

describe('metadata that is stored as text', () => {
  it.each([
    { topic: 'orders' },
    { topic: '' },
    { topic: 'a"b' },
    { topic: 'a\\' },
    { topic: 'žluť \u0000' },
    { topic: '","headers":{"a":"b' },
    { topic: 'orders', correlationId: 'c' },
    { topic: 'orders', headers: { a: '"}' } },
    { correlationId: 'c', headers: {} },
  ])('is read as it was written: %j', (metadata) => {
    expect(decodeMetadata(encodeMetadata({ ...message, ...metadata }))).toEqual(metadata)
  })
})
