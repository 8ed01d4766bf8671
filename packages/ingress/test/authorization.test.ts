import { describe, expect, it } from '@jest/globals'
import { InvalidOperationError, StoreUnavailableError } from '@litebus/core'
import { bench } from './arrange.ts'

describe('authorizeDelivery', () => {
  it('sees the message before its headers are read, and true lets it in', async () => {
    const parts = bench()
    const asked: unknown[] = []
    const subject = parts.ingress({
      authorizeDelivery(message) {
        asked.push(message.messageId)
        return true
      },
    })
    parts.order('a')
    parts.put({ messageId: 'b', headers: {} })
    await subject.start()
    await parts.clock.advance(1)
    expect(asked).toEqual(['a', 'b'])
    expect(subject.counts()).toMatchObject({ acked: 1, discarded: 1 })
    await subject.stop()
  })

  it('that answers false discards', async () => {
    const parts = bench()
    const subject = parts.ingress({ authorizeDelivery: () => Promise.resolve(false) })
    parts.order('a')
    await subject.start()
    await parts.clock.advance(1)
    expect(subject.counts()).toMatchObject({ discarded: 1 })
    expect(parts.logged.find(({ fields }) => fields.eventId === 3005)?.fields.code).toBe(
      'INBOX_INGRESS_REFUSED',
    )
    await subject.stop()
  })

  it.each([undefined, 1, 'no', {}])(
    'that answers %p lets nothing in and discards nothing',
    async (answer) => {
      const parts = bench()
      const subject = parts.ingress({ authorizeDelivery: () => answer as unknown as boolean })
      parts.order('a')
      await subject.start()
      await parts.clock.advance(1)
      expect(subject.counts()).toMatchObject({ deliveries: 1, returned: 1, inFlight: 0 })
      expect(await parts.rows()).toEqual([])
      await subject.stop()
    },
  )

  it.each([
    ['a terminal error', new InvalidOperationError('x'), { discarded: 1 }],
    [
      'a terminal error in an aggregate',
      new AggregateError([new InvalidOperationError('x')]),
      { discarded: 1 },
    ],
    ['a bug', new TypeError('x'), { returned: 1 }],
  ])('that throws %s is met by the policy', async (_name, error, counts) => {
    const parts = bench()
    const subject = parts.ingress({
      authorizeDelivery: () => {
        throw error
      },
    })
    parts.order('a')
    await subject.start()
    await parts.clock.advance(1)
    expect(subject.counts()).toMatchObject({ deliveries: 1, ...counts, inFlight: 0 })
    expect(await parts.rows()).toEqual([])
    await subject.stop()
  })

  it('that finds the store unavailable is an outage, whatever requeueOnFailure says', async () => {
    const parts = bench()
    let down = true
    const subject = parts.ingress({
      requeueOnFailure: false,
      authorizeDelivery: () => {
        if (down) throw new StoreUnavailableError('down')
        return true
      },
    })
    parts.order('a')
    await subject.start()
    await parts.clock.advance(60_000)
    expect([subject.state, subject.pausedBy]).toEqual(['paused', ['store']])
    expect(subject.counts()).toMatchObject({ deliveries: 1, inFlight: 1 })
    down = false
    await parts.clock.advance(6000)
    expect(subject.counts()).toMatchObject({ deliveries: 1, acked: 1 })
    await subject.stop()
  })

  it('that never answers keeps a delivery no longer than the execution budget', async () => {
    const parts = bench()
    const subject = parts.ingress({ authorizeDelivery: () => new Promise<boolean>(() => undefined) })
    parts.order('a')
    await subject.start()
    await parts.clock.advance(30_001)
    expect(subject.counts()).toMatchObject({ deliveries: 1, returned: 1, inFlight: 0 })
    await subject.stop()
  })
})
