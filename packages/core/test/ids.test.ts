import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  ArgumentError,
  idOfDelivery,
  idOfHop,
  idOfSend,
  isUuid,
  normalizeUuid,
  uuidV5,
  uuidV7,
} from '../src/index.ts'

const body = (text: string): Uint8Array => new TextEncoder().encode(text)
const identity = (): { messageId: string; handler: string; sent: Map<string, number> } => ({
  messageId: 'm',
  handler: 'h',
  sent: new Map(),
})

describe('uuidV5', () => {
  it('matches the published example of RFC 9562', () => {
    expect(uuidV5('6ba7b810-9dad-11d1-80b4-00c04fd430c8', 'www.example.com')).toBe(
      '2ed6657d-e927-568b-95e1-2665a8aea6a2',
    )
  })
})

describe('uuidV7', () => {
  it('is a valid version 7 that sorts by time', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 47 }), (now) => {
        const [earlier, later] = [uuidV7(now), uuidV7(now + 1)]
        expect(isUuid(earlier) && earlier[14] === '7' && /[89ab]/.test(earlier[19] ?? '')).toBe(true)
        expect(earlier < later).toBe(true)
      }),
    )
  })
})

describe('normalizeUuid', () => {
  it('takes any case and refuses anything else', () => {
    expect(normalizeUuid('2ED6657D-E927-568B-95E1-2665A8AEA6A2')).toBe('2ed6657d-e927-568b-95e1-2665a8aea6a2')
    for (const wrong of ['', 'x', '2ed6657d-e927-568b-95e1-2665a8aea6a2 ', 7 as unknown as string]) {
      expect(() => normalizeUuid(wrong)).toThrow(ArgumentError)
    }
  })
})

describe('idOfSend', () => {
  it('is the same for every run of a handler, whatever order or branch led to a send', () => {
    const first = identity()
    const a1 = idOfSend({ from: first, contractName: 'c', body: body('a') })
    const b1 = idOfSend({ from: first, contractName: 'c', body: body('b') })
    const second = identity()
    const b2 = idOfSend({ from: second, contractName: 'c', body: body('b') })
    const a2 = idOfSend({ from: second, contractName: 'c', body: body('a') })
    expect([a2, b2]).toEqual([a1, b1])
    expect(a1).not.toBe(b1)
  })
  it('tells equal bodies apart by occurrence, and by contract, handler, inbound id and key', () => {
    const from = identity()
    const ids = [
      idOfSend({ from, contractName: 'c', body: body('a') }),
      idOfSend({ from, contractName: 'c', body: body('a') }),
      idOfSend({ from, contractName: 'd', body: body('a') }),
      idOfSend({ from, contractName: 'c', body: body('a'), sendKey: 'k' }),
      idOfSend({ from: { ...identity(), handler: 'other' }, contractName: 'c', body: body('a') }),
      idOfSend({ from: { ...identity(), messageId: 'n' }, contractName: 'c', body: body('a') }),
    ]
    expect(new Set(ids).size).toBe(ids.length)
  })
  it('ignores the body when a key is given', () => {
    const key = { contractName: 'c', sendKey: 'k' }
    expect(idOfSend({ from: identity(), ...key, body: body('a') })).toBe(
      idOfSend({ from: identity(), ...key, body: body('b') }),
    )
  })
})

describe('idOfDelivery and idOfHop', () => {
  it('scope a source id by destination without ambiguity', () => {
    expect(idOfDelivery('a', 'b:c')).not.toBe(idOfDelivery('a:b', 'c'))
    expect(idOfDelivery('a', 'x')).not.toBe(idOfDelivery('b', 'x'))
  })
  it('repeat only for the same hop', () => {
    const hop = { messageId: 'm', kind: 'retry', attempt: 1 } as const
    const ids = [
      hop,
      { ...hop, attempt: 2 },
      { ...hop, kind: 'deadLetter' as const },
      { ...hop, kind: 'redrive' as const, redriveId: 'r' },
    ].map(idOfHop)
    expect(new Set(ids).size).toBe(4)
    expect(idOfHop({ ...hop })).toBe(ids[0])
  })
})
