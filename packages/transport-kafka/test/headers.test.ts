import { describe, expect, it } from '@jest/globals'
import { wireHeaders, type OutboundMessage } from '@litebus/core'
import fc from 'fast-check'
import { createHeaderWriter, readKey, readRecordHeaders, tombstoneHeader, writeKey } from '../src/headers.ts'
import { partitionOfKey } from '../src/partitioner.ts'
import { createRecordPreparation } from '../src/produced-record.ts'

const message = (parts: Partial<OutboundMessage> = {}): OutboundMessage => ({
  destination: 'topic',
  messageId: 'id-1',
  body: new Uint8Array(),
  headers: {},
  ...parts,
})
const value = new Uint8Array()
const writeRecordHeaders = (of: OutboundMessage): Readonly<Record<string, string>> =>
  createHeaderWriter()(of)?.headers ?? {}

describe('headers of Kafka', () => {
  it('carry id and content type, which are no headers of the application when they are read', () => {
    const headers = writeRecordHeaders(message({ contentType: 'text/plain', headers: { own: 'ž' } }))
    expect(readRecordHeaders({ headers, value })).toEqual({
      headers: { own: Buffer.from('ž') },
      messageId: 'id-1',
      contentType: 'text/plain',
    })
  })

  it('do not carry the id twice where LiteBus has written it', () => {
    const headers = writeRecordHeaders(message({ headers: { [wireHeaders.messageId]: 'id-1' } }))
    expect(Object.keys(headers).sort()).toEqual(['content-type', wireHeaders.messageId])
    expect(readRecordHeaders({ headers, value }).messageId).toBe('id-1')
  })

  it.each([
    [{ headers: { '': 'no name' } }],
    [{ headers: { ['é'.repeat(128)]: '256 bytes' } }],
    [{ headers: { number: 5 as unknown as string } }],
    [{ headers: { half: '\ud800' } }],
    [{ messageId: '\ud800' }],
  ])('are refused where they could not be read again: case %#', (parts) => {
    expect(createHeaderWriter()(message(parts))).toBeUndefined()
  })

  it('are counted as they are written, also where a property of the message takes the place of a header', () => {
    const name = fc.oneof(fc.constantFrom('content-type', 'message-id', wireHeaders.messageId), fc.string())
    fc.assert(
      fc.property(fc.dictionary(name, fc.string({ unit: 'grapheme' })), (given) => {
        const written = createHeaderWriter()(message({ headers: given, contentType: 'text/plain' }))
        fc.pre(written !== undefined)
        const sizes = Object.entries(written.headers).map(
          ([header, text]) => 8 + Buffer.byteLength(header) + Buffer.byteLength(text),
        )
        expect(written.bytes).toBe(sizes.reduce((sum, size) => sum + size, 0))
        expect(written.headers['content-type']).toBe(given['content-type'] ?? 'text/plain')
        const isCarried = given[wireHeaders.messageId] === 'id-1'
        expect(written.headers['message-id']).toBe(isCarried ? given['message-id'] : 'id-1')
      }),
    )
  })

  it('are read totally: bytes, empty ones, and several of one name, of which the last counts', () => {
    const id = [Buffer.from('first'), Buffer.from('last')]
    const headers = { 'message-id': id, raw: Uint8Array.of(0, 255), empty: new Uint8Array(), many: id }
    expect(readRecordHeaders({ headers, value })).toEqual({
      messageId: 'last',
      headers: { raw: Uint8Array.of(0, 255), empty: new Uint8Array(), many: id },
    })
  })

  it('tell a tombstone from an empty value, in both directions', () => {
    const { headers } = readRecordHeaders({ headers: {}, value: null })
    expect(headers).toEqual({ [tombstoneHeader]: 'true' })
    const parts = createRecordPreparation({ maxMessageBytes: 1000 })
    const copy = parts(message({ headers: { [tombstoneHeader]: 'true' } }))
    expect(copy).toMatchObject({ parts: { value: null } })
    expect(copy).not.toHaveProperty(['parts', 'headers', tombstoneHeader])
    expect(parts(message())).toMatchObject({ parts: { value: new Uint8Array() } })
  })

  it('keep every name, also one that means something to an object', () => {
    const given = JSON.parse('{"__proto__":"own","constructor":"own"}') as Record<string, string>
    const headers = writeRecordHeaders(message({ headers: given }))
    expect(Object.entries(readRecordHeaders({ headers, value }).headers)).toEqual([
      ['__proto__', Buffer.from('own')],
      ['constructor', Buffer.from('own')],
    ])
  })
})

describe('keys of Kafka', () => {
  it('are ordering keys, and any bytes come back as they were', () => {
    fc.assert(
      fc.property(fc.uint8Array({ minLength: 1 }), (bytes) => {
        const key = readKey(bytes)
        expect(key).toBeDefined()
        expect(key).not.toContain('\0')
        expect(Buffer.compare(writeKey(key) ?? Buffer.alloc(0), bytes)).toBe(0)
      }),
    )
    expect(readKey(Buffer.from('order-7'))).toBe('order-7')
    expect([readKey(null), readKey(new Uint8Array()), writeKey(undefined)]).toEqual([
      undefined,
      undefined,
      null,
    ])
  })

  // Vectors of the Java client's own test: murmur2 as a signed number.
  it.each([
    ['21', -973932308],
    ['foobar', -790332482],
    ['a-little-bit-long-string', -985981536],
    ['a-little-bit-longer-string', -1486304829],
    ['lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8', -58897971],
    ['abc', 479470107],
  ])('have the partition that the Java client gives %s', (key, hash) => {
    const partitions = 2 ** 20 - 3
    expect(partitionOfKey(Buffer.from(key), partitions)).toBe((hash & 0x7fffffff) % partitions)
  })
})
