import { describe, expect, it } from '@jest/globals'
import { withBody } from '../src/lease/body-of-text.ts'

const fields = { id: 'a', contractName: 'order-placed', contractVersion: 1, createdAt: new Date(0) }

describe('the body of a leased message', () => {
  it('is there as text, and as the same bytes in a message and in its copies', () => {
    const message = withBody(fields, 'žluť 🐎')
    expect(message.text).toBe('žluť 🐎')
    expect({ ...message }.body).toEqual(Buffer.from('žluť 🐎'))
    expect(message.body).toEqual(Buffer.from('žluť 🐎'))
    expect(Object.keys(message)).toContain('body')
  })

  it.each(['madeOnDemand', 'madeAtOnce'] as const)('is made once, %s', (bodies) => {
    const message = withBody(fields, 'žluť 🐎', bodies)
    expect(message.body).toBe(message.body)
    expect(message.body).toEqual(Buffer.from('žluť 🐎'))
  })

  it('is not held as text, too, when its bytes are made at once', () => {
    const message = withBody(fields, 'žluť 🐎', 'madeAtOnce')
    expect(message).toEqual({ ...fields, body: Buffer.from('žluť 🐎') })
  })

  it('is bytes alone where a driver brings bytes, or nothing is left of it', () => {
    expect(withBody(fields, Uint8Array.of(1, 255))).toEqual({ ...fields, body: Buffer.of(1, 255) })
    expect(withBody(fields, null)).toEqual({ ...fields, body: Buffer.alloc(0) })
  })
})
