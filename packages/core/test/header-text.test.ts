import { describe, expect, it } from '@jest/globals'
import { textOf } from '../src/index.ts'

describe.each([
  ['a Buffer', (text: string): Uint8Array => Buffer.from(text)],
  ['part of a larger array', (text: string) => new TextEncoder().encode(`<${text}>`).subarray(1, -1)],
])('the text of a header in %s', (_name, bytesOf) => {
  it.each(['', 'plain', 'žluť 🐎', 'a \ufffd b'])('is what was written: %j', (text) => {
    expect(textOf(bytesOf(text))).toBe(text)
  })

  it('comes without a byte order mark', () => {
    expect(textOf(bytesOf('\ufeffmarked'))).toBe('marked')
  })
})

it.each([[0xff], [0x61, 0xc3], [0xed, 0xa0, 0x80]])(
  'is none for bytes that are not UTF-8: %j',
  (...bytes) => {
    expect(textOf(Uint8Array.from(bytes))).toBeUndefined()
    expect(textOf(Buffer.from(bytes))).toBeUndefined()
  },
)
