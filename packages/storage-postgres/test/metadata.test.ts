import { describe, expect, it } from '@jest/globals'
import { createMetadataReader, decodeMetadata, encodeMetadata } from '../src/database/metadata.ts'

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
    expect(decodeMetadata(encodeMetadata({ ...message, ...metadata }) ?? '{}')).toEqual(metadata)
  })

  it('is read anew for each message that has headers, which a handler may change', () => {
    const read = createMetadataReader()
    const texts = ['{"topic":"a"}', '{"topic":"a"}', '{"topic":"b"}', '{"headers":{}}', '{"headers":{}}']
    const all = texts.map((text) => read(text))
    expect(all).toEqual(texts.map((text) => JSON.parse(text) as unknown))
    expect(all[4]?.headers).not.toBe(all[3]?.headers)
  })
})
