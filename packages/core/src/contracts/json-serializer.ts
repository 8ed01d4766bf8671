import type { PayloadSerializer } from './message-contract.ts'

const encoder = new TextEncoder()
const decoder = new TextDecoder('utf-8', { fatal: true })

/** JSON in UTF-8: the default serializer. A message that JSON cannot carry (`undefined`, a `bigint`, a cycle) throws. */
export const jsonSerializer: PayloadSerializer = Object.freeze({
  contentType: 'application/json',
  serialize(message: unknown): Uint8Array {
    const text = JSON.stringify(message) as string | undefined
    if (text === undefined) throw new TypeError(`JSON cannot carry a value of type ${typeof message}`)
    return encoder.encode(text)
  },
  deserialize(body: Uint8Array): unknown {
    // A decoder that refuses what is not UTF-8 is several times slower than one that marks it, which is rare.
    const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8')
    return parse(text.includes('\ufffd') ? decoder.decode(body) : text)
  },
  deserializeText: parse,
})

/** Reads JSON, behind a byte order mark if there is one. */
function parse(text: string): unknown {
  return JSON.parse(text.charCodeAt(0) === 0xfeff ? text.slice(1) : text) as unknown
}
