import { describe, expect, it } from '@jest/globals'
import { bench, gate } from './arrange.ts'

describe('the broker accept after the store has accepted', () => {
  it('comes only once the store has committed', async () => {
    const parts = bench()
    const commit = gate()
    parts.before = () => commit.promise.then(() => undefined)
    const subject = parts.ingress()
    parts.order('a')
    await subject.start()
    await parts.clock.advance(1)
    expect(parts.broker.count('billing').unsettled).toBe(1)
    commit.open()
    await parts.clock.advance(1)
    expect(parts.broker.count('billing').unsettled).toBe(0)
    expect(await parts.rows()).toHaveLength(1)
    await subject.stop()
  })

  it.each([
    ['was not sent: the delivery goes back once', 'notSent', 'returned'],
    ['has no answer: it is left to redelivery', 'unknown', 'unresolved'],
  ] as const)(
    'that %s, is logged with 3004, counted, and absorbed when it comes again',
    async (_name, result, terminal) => {
      const parts = bench()
      const subject = parts.ingress()
      parts.broker.faults.failNextSettlement({ result })
      parts.order('a')
      await subject.start()
      await parts.clock.advance(1)
      expect(parts.events()).toEqual([3004])
      expect(parts.logged.find(({ fields }) => fields.eventId === 3004)).toMatchObject({
        level: 'error',
        fields: { source: 'billing', terminal },
      })
      expect(parts.counted.get('ingress.ack_failed_after_accept')).toBe(1)
      expect(subject.counts()).toMatchObject({ deliveries: 2, acked: 1, [terminal]: 1, inFlight: 0 })
      expect(await parts.rows()).toHaveLength(1)
      await subject.stop()
    },
  )

  it('on a channel that is gone settles nothing, and the duplicate is absorbed', async () => {
    const parts = bench()
    let cut = true
    const subject = parts.ingress()
    parts.before = () => {
      if (cut) parts.broker.faults.dropConnections()
      cut = false
    }
    parts.order('a')
    await subject.start()
    await parts.clock.advance(10)
    expect(subject.counts()).toMatchObject({ deliveries: 2, pending_redelivery: 1, acked: 1, inFlight: 0 })
    expect(await parts.rows()).toHaveLength(1)
    await subject.stop()
  })
})
