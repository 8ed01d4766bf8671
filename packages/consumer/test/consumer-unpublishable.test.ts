import { describe, expect, it } from '@jest/globals'
import { reject, retry, type PublishOutcome, type Transport } from '@litebus/core'
import { bench } from './arrange.ts'

const never = () => reject({ code: 'NEVER' })

const tooLarge: PublishOutcome = {
  status: 'rejected',
  failure: { category: 'VALIDATION', code: 'MESSAGE_TOO_LARGE' },
}

const badHeader: PublishOutcome = {
  status: 'rejected',
  failure: { category: 'VALIDATION', code: 'HEADER_INVALID' },
}

/** The same transport, which takes nothing for some destinations, whatever it looks like. */
function refusing(transport: Transport, destinations: readonly string[], outcome = tooLarge): Transport {
  return {
    ...transport,
    publisher: {
      async publish(messages, options) {
        const refused = messages.some(({ destination }) => destinations.includes(destination))
        return refused ? messages.map(() => outcome) : transport.publisher.publish(messages, options)
      },
    },
  }
}

describe('a copy that can never be published', () => {
  it('for its size leaves its original to the dead-letter place of the source', async () => {
    const { clock, consumer, logged, order, transport, waiting } = bench([
      { name: 'orders', deadLetter: 'orders.parked' },
      { name: 'orders.parked' },
    ])
    const subject = consumer(never, { transport: refusing(transport, ['orders.dead']) })
    order('a', 'b')
    await subject.start()
    await clock.advance(1)
    expect(subject.counts()).toMatchObject({ deliveries: 2, discarded: 2, inFlight: 0 })
    expect(waiting('orders.parked').map(({ messageId }) => messageId)).toEqual(['a', 'b'])
    expect([subject.state, waiting('orders.dead').length]).toEqual(['consuming', 0])
    expect(logged.some(({ message }) => message.includes('can never be published'))).toBe(true)
    await subject.stop()
  })

  it('for the name of its place leaves its original where it is, since nothing is wrong with that', async () => {
    const { broker, clock, consumer, order, transport, waiting } = bench([
      { name: 'orders', deadLetter: 'orders.parked' },
      { name: 'orders.parked' },
    ])
    const subject = consumer(never, { transport: refusing(transport, ['orders.dead'], badHeader) })
    order('a')
    await subject.start()
    await clock.advance(1000)
    expect([subject.pausedBy, broker.count('orders').unsettled]).toEqual([['handoff'], 1])
    expect([subject.counts().discarded, waiting('orders.parked').length]).toEqual([0, 0])
    await subject.stop()
  })

  it('as a retry is parked at once', async () => {
    const { clock, consumer, order, transport, waiting } = bench()
    const subject = consumer(() => retry({ code: 'LATER' }), {
      transport: refusing(transport, ['orders.retry']),
      retry: {
        mode: 'retryDestination',
        ordering: 'allowReorder',
        retryDestination: 'orders.retry',
        deadLetterDestination: 'orders.dead',
      },
    })
    order('a')
    await subject.start()
    await clock.advance(1)
    expect(subject.counts()).toMatchObject({ deliveries: 1, acked_dead_letter: 1, acked_retry: 0 })
    expect(waiting('orders.dead')).toMatchObject([
      { messageId: 'a', headers: { 'msg.failure-code': 'LATER', 'msg.retry-attempt': '1' } },
    ])
    await subject.stop()
  })

  it('anywhere is held, goes back once, and is not taken again for as long as the consumer lives', async () => {
    const { broker, clock, consumer, logged, order, seen, transport } = bench()
    const subject = consumer(never, {
      transport: refusing(transport, ['orders.dead']),
      holdLimitMs: 60_000,
    })
    order('a', 'b')
    await subject.start()
    await clock.advance(59_000)
    expect([subject.pausedBy, broker.count('orders').unsettled]).toEqual([['handoff'], 1])
    await clock.advance(24 * 3_600_000)
    expect(subject.counts()).toMatchObject({ deliveries: 1, returned: 1, inFlight: 0 })
    expect([seen.length, broker.count('orders').ready, subject.state]).toEqual([1, 2, 'suspended'])
    await expect(subject.probe()).rejects.toThrow(/suspended/)
    expect(logged.find(({ message }) => message.includes('raise the size limit'))?.fields).toEqual({
      destination: 'orders.dead',
      code: 'MESSAGE_TOO_LARGE',
    })
    const { outcome } = await subject.stop()
    expect(outcome).toBe('graceful')
  })

  it('yet is published as soon as its destination takes it', async () => {
    const { clock, consumer, order, transport, waiting } = bench()
    const refused = ['orders.dead']
    const subject = consumer(never, { transport: refusing(transport, refused) })
    order('a')
    await subject.start()
    await clock.advance(5000)
    refused.length = 0
    await clock.advance(60_000)
    expect(subject.counts()).toMatchObject({ deliveries: 1, acked_dead_letter: 1 })
    expect(waiting('orders.dead')).toHaveLength(1)
    await subject.stop()
  })
})
