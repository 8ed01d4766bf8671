import { describe, expect, it } from '@jest/globals'
import { createPublishWindow, type PublishIdentity } from '../src/publish-window.ts'
import { readServerClose } from '../src/server-close.ts'

function publish(messageId: string, parts: Partial<PublishIdentity> = {}): PublishIdentity {
  return { exchange: '', routingKey: 'q', messageId, headers: {}, body: Buffer.from(messageId), ...parts }
}

/** The error that the client makes of a close frame. */
function closeError(code: number, text: string): Error {
  return Object.assign(new Error(`Channel closed by server: ${String(code)} (X) with message "${text}"`), {
    code,
  })
}

function windowWith(...entries: readonly PublishIdentity[]) {
  const window = createPublishWindow()
  for (const entry of entries) window.sent(entry)
  return window
}

const ids = (answered: readonly { entry: PublishIdentity; outcome: { status: string } }[]) =>
  answered.map(({ entry, outcome }) => [entry.messageId, outcome.status])

describe('the publish window', () => {
  it('answers one publish, or all up to one, by number', () => {
    const window = windowWith(publish('1'), publish('2'), publish('3'), publish('4'))
    expect(ids(window.acked(2, false))).toEqual([['2', 'confirmed']])
    expect(ids(window.acked(3, true))).toEqual([
      ['1', 'confirmed'],
      ['3', 'confirmed'],
    ])
    expect(ids(window.nacked(4, false))).toEqual([['4', 'rejected']])
    expect(window.active).toBe(0)
  })

  it('confirms nothing that a return without a match may mean', () => {
    const window = windowWith(publish('1'), publish('2'))
    window.returned(publish('unknown'))
    window.sent(publish('3'))
    expect(ids(window.acked(3, true))).toEqual([
      ['1', 'ambiguous'],
      ['2', 'ambiguous'],
      ['3', 'confirmed'],
    ])
  })

  it('ignores an answer that it had already', () => {
    const window = windowWith(publish('1'))
    window.acked(1, false)
    expect(window.acked(1, false)).toEqual([])
    expect(window.acked(1, true)).toEqual([])
  })

  it('rejects a returned message although its confirm follows', () => {
    const window = windowWith(publish('1'), publish('2', { routingKey: 'nowhere' }), publish('3'))
    window.returned(publish('2', { routingKey: 'nowhere' }))
    expect(ids(window.acked(3, true))).toEqual([
      ['1', 'confirmed'],
      ['2', 'rejected'],
      ['3', 'confirmed'],
    ])
  })

  it('tells two outstanding publishes under one id apart by body and headers', () => {
    const window = windowWith(
      publish('same', { body: Buffer.from('a') }),
      publish('same', { body: Buffer.from('b'), headers: { h: '1' } }),
      publish('same', { body: Buffer.from('b'), headers: { h: '2' } }),
    )
    window.returned(publish('same', { body: Buffer.from('b'), headers: { h: '2' } }))
    expect(ids(window.acked(3, true)).map(([, status]) => status)).toEqual([
      'confirmed',
      'confirmed',
      'rejected',
    ])
  })

  it('matches as many returns as came, the earliest publishes first, when nothing tells them apart', () => {
    const window = windowWith(publish('same'), publish('same'), publish('same'))
    window.returned(publish('same'))
    window.returned(publish('same'))
    expect(ids(window.acked(3, true)).map(([, status]) => status)).toEqual([
      'rejected',
      'rejected',
      'confirmed',
    ])
  })

  it('frees the place of an abandoned publish and keeps its number', () => {
    const first = publish('1')
    const window = windowWith(first, publish('2'))
    window.abandon(first)
    window.abandon(first)
    expect([window.active, window.activeBytes]).toEqual([1, 1])
    expect(ids(window.acked(2, false))).toEqual([['2', 'confirmed']])
    expect(ids(window.acked(1, false))).toEqual([['1', 'confirmed']])
    expect([window.active, window.activeBytes]).toEqual([0, 0])
  })

  it('answers everything when the channel closes: the exchange that the close names is to blame', () => {
    const window = windowWith(
      publish('1', { exchange: 'gone' }),
      publish('2'),
      publish('3', { routingKey: 'nowhere' }),
    )
    window.returned(publish('3', { routingKey: 'nowhere' }))
    const close = readServerClose(closeError(404, "NOT_FOUND - no exchange 'gone' in vhost '/'"))
    expect(ids(window.closed(close))).toEqual([
      ['1', 'rejected'],
      ['2', 'ambiguous'],
      ['3', 'rejected'],
    ])
    expect(window.closed(close)).toEqual([])
  })

  it('calls everything ambiguous when the connection is lost', () => {
    expect(ids(windowWith(publish('1', { exchange: 'x' })).closed(undefined))).toEqual([['1', 'ambiguous']])
  })
})

describe('reading a close of the broker', () => {
  it.each([
    [404, "NOT_FOUND - no exchange 'it''s' in vhost '/'", { queueMissing: false }],
    [404, "NOT_FOUND - no exchange 'orders' in vhost '/'", { exchange: 'orders', queueMissing: false }],
    [404, "NOT_FOUND - no queue 'orders' in vhost '/'", { queueMissing: true }],
    [
      404,
      "NOT_FOUND - home node 'rabbit@b' of durable queue 'orders' in vhost '/' is down or inaccessible",
      { queueMissing: false },
    ],
    [
      403,
      "ACCESS_REFUSED - access to exchange 'orders' in vhost '/' refused for user 'app'",
      { exchange: 'orders', code: 403 },
    ],
    [
      406,
      'PRECONDITION_FAILED - delivery acknowledgement on channel 1 timed out. Timeout value used: 1800000 ms.',
      { consumerTimeout: true, inequivalent: false },
    ],
    [
      406,
      "PRECONDITION_FAILED - inequivalent arg 'x-queue-type' for queue 'q' in vhost '/': received 'quorum' but current is 'classic'",
      { inequivalent: true, consumerTimeout: false },
    ],
  ])('%i %s', (code, text, expected) => {
    expect(readServerClose(closeError(code, text))).toMatchObject(expected)
  })

  it.each([undefined, null, 'text', 7, {}, new Error('read ECONNRESET')])('makes nothing of %p', (error) => {
    expect(readServerClose(error)).toMatchObject({
      code: undefined,
      queueMissing: false,
      inequivalent: false,
    })
  })
})
