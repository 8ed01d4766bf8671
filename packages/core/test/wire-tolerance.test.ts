import { describe, expect, it } from '@jest/globals'
import { readTrace, readVisibility } from '../src/index.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
const now = Date.UTC(2026, 0, 1)

describe('optional headers that no store could keep', () => {
  it.each(['0001-01-01T00:00:00Z', '1969-12-31T23:59:59Z'])('a message due at %s is due at once', (at) => {
    expect(readVisibility({ 'litebus-visible-after': at }, now)).toBeUndefined()
  })

  it.each(['a\0b', '\ud800'])('a trace goes on without state and baggage of %j', (value) => {
    expect(readTrace({ traceparent, tracestate: value, baggage: value })).toEqual({ traceparent })
    const own = JSON.stringify({ traceparent, tracestate: value })
    expect(readTrace({ 'litebus-trace-context': own })).toEqual({ traceparent })
  })
})
