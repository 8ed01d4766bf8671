import { describe, expect, it } from '@jest/globals'
import { OptionsError } from '@litebus/core'
import { memoryTransport } from '@litebus/transport-memory'
import { bench, contractHeaders } from './arrange.ts'

const poison = (id: string) => ({ messageId: id, headers: {} })

describe('onDiscard: deadLetter', () => {
  it('parks a confirmed copy with the reserved headers before anything is taken off the source', async () => {
    const parts = bench()
    const confirm = parts.broker.faults.holdConfirms()
    const subject = parts.ingress({ onDiscard: { deadLetter: 'billing.dead' } })
    const body = new TextEncoder().encode('not json')
    const headers = { ...contractHeaders, note: 'kept', Authorization: 'Bearer hunter2' }
    parts.put({ messageId: 'a', body, headers })
    await subject.start()
    await parts.clock.advance(1)
    expect(parts.broker.count('billing').unsettled).toBe(1)
    confirm()
    await parts.clock.advance(1)
    expect(subject.counts()).toMatchObject({ acked_dead_letter: 1, discarded: 0, inFlight: 0 })
    const [dead] = parts.waiting('billing.dead')
    expect(dead?.body).toEqual(body)
    const at = new Date(parts.clock.now() - 2).toISOString()
    expect(dead).toMatchObject({ messageId: 'a' })
    expect(dead?.headers).toEqual({
      ...contractHeaders,
      note: 'kept',
      'msg.failure-category': 'DESERIALIZATION',
      'msg.failure-code': 'PAYLOAD_INVALID',
      'msg.origin-destination': 'billing',
      'msg.retry-attempt': '1',
      'msg.first-failure-at': at,
      'msg.last-failure-at': at,
    })
    expect(parts.events()).toEqual([3005])
    await subject.stop()
  })

  it('that cannot be reached holds the delivery, and beyond the hold limit it goes back, not away', async () => {
    const parts = bench()
    parts.broker.deleteQueue('billing.dead')
    const subject = parts.ingress({ onDiscard: { deadLetter: 'billing.dead' }, holdLimitMs: 60_000 })
    parts.put(poison('a'))
    await subject.start()
    await parts.clock.advance(59_000)
    expect([subject.state, subject.pausedBy]).toEqual(['paused', ['handoff']])
    await parts.clock.advance(1100)
    expect(subject.state).toBe('suspended')
    expect(subject.counts()).toMatchObject({ deliveries: 1, returned: 1, discarded: 0 })
    expect(parts.events()).toEqual([])
    parts.broker.declareQueue({ name: 'billing.dead' })
    await parts.clock.advance(60_000)
    expect(subject.counts()).toMatchObject({ deliveries: 2, acked_dead_letter: 1 })
    await subject.stop()
  })

  it('copies deliveries without an id each under an id of its own', async () => {
    const parts = bench([{ name: 'billing.dead', deduplicate: true }])
    const subject = parts.ingress({ onDiscard: { deadLetter: 'billing.dead' } })
    parts.put({ headers: contractHeaders }, { headers: contractHeaders })
    await subject.start()
    await parts.clock.advance(1)
    expect(parts.waiting('billing.dead')).toHaveLength(2)
    await subject.stop()
  })

  it('that takes the copy in no form discards at once, with event 3005, instead of holding for ever', async () => {
    const parts = bench()
    const subject = parts.ingress({
      transport: memoryTransport({ broker: parts.broker, maxMessageBytes: 5000 }),
      onDiscard: { deadLetter: 'billing.dead' },
      maxMessageBytes: 1000,
    })
    parts.put(
      { messageId: 'beyond', body: new Uint8Array(5001) },
      { messageId: 'copied', body: new Uint8Array(3000) },
    )
    parts.put({
      messageId: 'stripped',
      body: new Uint8Array(4300),
      headers: { ...contractHeaders, 'correlation-id': 'x'.repeat(700) },
    })
    parts.order('valid')
    await subject.start()
    await parts.clock.advance(1)
    expect(subject.counts()).toMatchObject({ discarded: 1, acked_dead_letter: 2, acked: 1, inFlight: 0 })
    expect(parts.waiting('billing.dead').map(({ messageId }) => messageId)).toEqual(['copied', 'stripped'])
    expect(parts.logged.filter(({ fields }) => fields.terminal === 'discarded')).toMatchObject([
      { fields: { eventId: 3005, reason: 'size', found: 5001 } },
    ])
    expect(subject.pausedBy).toEqual([])
    await subject.stop()
  })

  it('does not copy a body over the limit where the broker parks it', async () => {
    const parts = bench([{ name: 'billing', deadLetter: 'native' }, { name: 'native' }])
    const subject = parts.ingress({ onDiscard: { deadLetter: 'billing.dead' }, maxMessageBytes: 5 })
    parts.order('a')
    await subject.start()
    await parts.clock.advance(1)
    expect([parts.waiting('native').length, parts.waiting('billing.dead').length]).toEqual([1, 0])
    await subject.stop()
  })
})

describe('pauseAfterConsecutiveDiscards', () => {
  it.each([1, 5])(
    'with %p in flight stands still instead of draining the queue, until an operator lets it go on',
    async (maxInFlightMessages) => {
      const parts = bench()
      const subject = parts.ingress({ pauseAfterConsecutiveDiscards: 3, maxInFlightMessages })
      parts.put(...Array.from({ length: 10 }, (_, index) => poison(`p${String(index)}`)))
      await subject.start()
      await parts.clock.advance(60_000)
      expect([subject.state, subject.pausedBy]).toEqual(['paused', ['discards']])
      expect(subject.counts().discarded).toBe(3)
      const { ready, unsettled } = parts.broker.count('billing')
      expect(ready + unsettled).toBe(7)
      subject.resume()
      await parts.clock.advance(60_000)
      expect([subject.counts().discarded, subject.state]).toEqual([6, 'paused'])
      const stopped = subject.stop()
      await parts.clock.advance(1)
      expect((await stopped).outcome).toBe('graceful')
      expect(parts.broker.count('billing').ready).toBe(4)
    },
  )

  it('counts discards in a row only', async () => {
    const parts = bench()
    const subject = parts.ingress({ pauseAfterConsecutiveDiscards: 3, maxInFlightMessages: 1 })
    parts.put(poison('a'), poison('b'), { messageId: 'good' }, poison('c'), poison('d'))
    await subject.start()
    await parts.clock.advance(1)
    expect([subject.state, subject.counts().discarded]).toEqual(['consuming', 4])
    await subject.stop()
  })

  it('does not count what went back', async () => {
    const parts = bench()
    parts.broker.deleteQueue('billing.dead')
    const subject = parts.ingress({
      pauseAfterConsecutiveDiscards: 1,
      onDiscard: { deadLetter: 'billing.dead' },
      holdLimitMs: 1000,
    })
    parts.put(poison('a'))
    await subject.start()
    await parts.clock.advance(2000)
    expect([subject.counts().returned, subject.pausedBy]).toEqual([1, []])
    await subject.stop()
  })
})

describe('options', () => {
  it('are refused with every fault at once', () => {
    const parts = bench()
    const create = (): unknown =>
      parts.ingress({
        source: ' ',
        contracts: [],
        maxMessageBytes: -1,
        maxInFlightMessages: 5,
        batch: { enabled: true, size: 6 },
        identity: 'brokerDelivery',
        trustApplicationHeaders: true,
        backlog: { high: 0, low: 5, pendingCount: () => Promise.resolve(0) },
        onDiscard: { deadLetter: ' ' },
        pauseAfterConsecutiveDiscards: 0,
        requeueBackoff: { multiplier: 0 },
        holdLimitMs: Number.NaN,
      })
    expect(create).toThrow(OptionsError)
    expect(create).toThrow(
      /source.*maxMessageBytes.*batch\.size of at most maxInFlightMessages \(5\), found 6.*trustApplicationHeaders.*at least one contract.*deadLetter.*backlog\.high.*pauseAfterConsecutiveDiscards.*holdLimitMs.*requeueBackoff\.multiplier/,
    )
  })

  it('refuses the source as the place of its dead letters', () => {
    const parts = bench()
    expect(() => parts.ingress({ onDiscard: { deadLetter: 'billing' } })).toThrow(/other than the source/)
  })
})
