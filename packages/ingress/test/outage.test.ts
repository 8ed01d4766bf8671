import { describe, expect, it } from '@jest/globals'
import {
  DuplicateInFlightError,
  idOfDelivery,
  InboxDispatchError,
  InvocationError,
  StoreUnavailableError,
} from '@litebus/core'
import { createInbox } from '@litebus/inbox'
import { bench, contractHeaders, orderPlaced } from './arrange.ts'

describe('an outage of the store', () => {
  it.each([
    ['refuses', new InboxDispatchError('no'), { discarded: 1 }],
    ['fails otherwise for', new Error('read EIO'), { returned: 1 }],
  ])('is over once the store %s what is held, and intake goes on', async (_name, answer, counts) => {
    const parts = bench()
    const answers: Error[] = [new StoreUnavailableError('down'), answer]
    parts.before = () => {
      const next = answers.shift()
      if (next !== undefined) throw next
    }
    const subject = parts.ingress({ maxInFlightMessages: 1 })
    parts.order('a', 'b')
    await subject.start()
    await parts.clock.advance(60_000)
    expect(subject.pausedBy).toEqual([])
    expect(subject.counts()).toMatchObject({ ...counts, inFlight: 0 })
    expect(parts.broker.count('billing')).toEqual({ ready: 0, unsettled: 0, delayed: 0 })
    await subject.stop()
  })

  it.each([true, false])(
    'with requeueOnFailure %p pauses intake, holds what it has, and goes on by itself without one redelivery',
    async (requeueOnFailure) => {
      const parts = bench([{ name: 'billing', deliveryLimit: 3 }])
      let down = true
      parts.before = () => {
        if (down) throw new InvocationError('x', { cause: new StoreUnavailableError('down') })
      }
      const subject = parts.ingress({ requeueOnFailure, maxInFlightMessages: 2, allowLossyLimit: true })
      parts.order('a', 'b', 'c')
      await subject.start()
      await parts.clock.advance(180_000)
      expect([subject.state, subject.pausedBy]).toEqual(['paused', ['store']])
      expect(parts.broker.count('billing')).toEqual({ ready: 1, unsettled: 2, delayed: 0 })
      down = false
      await parts.clock.advance(6000)
      expect(subject.state).toBe('consuming')
      expect(subject.counts()).toMatchObject({ deliveries: 3, acked: 3, returned: 0, discarded: 0 })
      expect(await parts.rows()).toHaveLength(3)
      expect(parts.logged.filter(({ message }) => message.startsWith('store is'))).toHaveLength(2)
      await subject.stop()
    },
  )

  it('is not begun again by a write that was under way when everything went back and fails after it was over', async () => {
    const parts = bench([{ name: 'billing', deliveryLimit: 3, deadLetter: 'billing.dead' }])
    let down = true
    parts.before = ([id]) => {
      if (!down) return undefined
      if (id === 'a') throw new StoreUnavailableError('down')
      return new Promise(() => undefined)
    }
    const subject = parts.ingress({ holdLimitMs: 1000, executionBudgetMs: 30_000 })
    parts.order('a', 'b')
    await subject.start()
    await parts.clock.advance(1100)
    expect(subject.state).toBe('suspended')
    down = false
    await parts.clock.advance(10_000)
    expect([subject.state, subject.counts().acked]).toEqual(['consuming', 2])
    await parts.clock.advance(30_000)
    expect([subject.state, subject.pausedBy]).toEqual(['consuming', []])
    parts.order('c')
    await parts.clock.advance(1000)
    expect(subject.counts()).toMatchObject({ acked: 3, inFlight: 0 })
    await subject.stop()
  })

  it('beyond the hold limit gives everything back once and does not subscribe until a probe succeeds', async () => {
    const parts = bench([{ name: 'billing', deliveryLimit: 3, deadLetter: 'billing.dead' }])
    let down = true
    let probes = 0
    parts.before = () => {
      if (down) throw new StoreUnavailableError('down')
    }
    const subject = parts.ingress({
      holdLimitMs: 60_000,
      probe: () => {
        probes += 1
        return down ? Promise.reject(new StoreUnavailableError('down')) : Promise.resolve()
      },
    })
    parts.order('a', 'b', 'c')
    await subject.start()
    await parts.clock.advance(30_000)
    parts.order('d')
    await parts.clock.advance(30_100)
    expect(subject.counts()).toMatchObject({ deliveries: 3, returned: 3, inFlight: 0 })
    expect(subject.state).toBe('suspended')
    await parts.clock.advance(600_000)
    expect(subject.counts().deliveries).toBe(3)
    expect(parts.broker.count('billing').ready).toBe(4)
    expect(probes).toBeGreaterThan(10)
    down = false
    await parts.clock.advance(6000)
    expect(subject.state).toBe('consuming')
    expect(subject.counts()).toMatchObject({ deliveries: 7, returned: 3, acked: 4 })
    expect(parts.waiting('billing.dead')).toEqual([])
    await subject.stop()
  })

  it('gives back what was held for less than the limit together with what was held longest', async () => {
    const parts = bench()
    let down = false
    parts.before = () => {
      if (down) throw new StoreUnavailableError('down')
    }
    const subject = parts.ingress({ holdLimitMs: 60_000, probe: () => Promise.reject(new Error('down')) })
    const headers = { ...contractHeaders, 'litebus-ordering-key': 'k' }
    await subject.start()
    down = true
    parts.put({ messageId: 'a', headers }, { messageId: 'b', headers }, { messageId: 'c' })
    await parts.clock.advance(60_200)
    expect(subject.counts()).toMatchObject({ deliveries: 3, returned: 3, inFlight: 0 })
    await subject.stop()
  })

  it('counts the hold of each delivery from when it came, not from its turn', async () => {
    const parts = bench()
    let down = true
    parts.before = ([id]) => {
      if (down && id === 'a') throw new StoreUnavailableError('down')
      if (id === 'b') throw new StoreUnavailableError('down')
    }
    const subject = parts.ingress({ holdLimitMs: 60_000, probe: () => Promise.reject(new Error('down')) })
    const headers = { ...contractHeaders, 'litebus-ordering-key': 'k' }
    parts.put({ messageId: 'a', headers }, { messageId: 'b', headers })
    await subject.start()
    await parts.clock.advance(50_000)
    down = false
    await parts.clock.advance(10_100)
    expect(subject.counts()).toMatchObject({ acked: 1, returned: 1, inFlight: 0 })
    await subject.stop()
  })

  it('in which an accept never answers is one too, and what it committed late is met as a duplicate', async () => {
    const parts = bench()
    let stuck = true
    const committed = createInbox({ store: parts.storage.inbox, contracts: [orderPlaced] })
    const subject = parts.ingress({
      executionBudgetMs: 1000,
      inbox: {
        accept: async (contract: never, message: never, options: never) => {
          const receipt = await committed.accept(contract, message, options)
          return stuck ? new Promise<never>(() => undefined) : receipt
        },
        acceptBatch: () => Promise.reject(new Error('unused')),
      } as never,
    })
    parts.order('a')
    await subject.start()
    await parts.clock.advance(1001)
    expect(subject.pausedBy).toEqual(['store'])
    stuck = false
    await parts.clock.advance(6000)
    expect(subject.counts()).toMatchObject({ deliveries: 1, acked: 1 })
    expect(await parts.rows()).toHaveLength(1)
    await subject.stop()
  })

  it('while a stop comes gives the held deliveries back', async () => {
    const parts = bench()
    parts.before = () => {
      throw new StoreUnavailableError('down')
    }
    const subject = parts.ingress()
    parts.order('a', 'b')
    await subject.start()
    await parts.clock.advance(20_000)
    const stopped = subject.stop()
    await parts.clock.advance(1)
    expect(await stopped).toMatchObject({ outcome: 'graceful', settlements: { deliveries: 2, returned: 2 } })
    expect(parts.broker.count('billing').ready).toBe(2)
  })
})

describe('a duplicate whose first write is still open', () => {
  it('is held until it is decided, while others go on', async () => {
    const parts = bench()
    const subject = parts.ingress()
    const transaction = parts.storage.begin()
    await createInbox({ store: parts.storage.inbox, contracts: [orderPlaced] }).accept(
      orderPlaced,
      { id: '1' },
      { transaction, messageId: idOfDelivery('billing', 'a'), idempotency: { key: 'ingress:billing:a' } },
    )
    parts.order('a', 'b')
    await subject.start()
    await parts.clock.advance(20_000)
    expect(subject.counts()).toMatchObject({ acked: 1, inFlight: 1, returned: 0 })
    expect(subject.state).toBe('consuming')
    transaction.rollback()
    await parts.clock.advance(6000)
    expect(subject.counts()).toMatchObject({ deliveries: 2, acked: 2 })
    expect(await parts.rows()).toHaveLength(2)
    await subject.stop()
  })

  it('beyond the hold limit goes back alone, and intake goes on', async () => {
    const parts = bench()
    parts.before = ([id]) => {
      if (id === 'a') throw new DuplicateInFlightError('x', [])
    }
    const subject = parts.ingress({ holdLimitMs: 10_000 })
    parts.order('a', 'b')
    await subject.start()
    await parts.clock.advance(10_001)
    expect(subject.counts()).toMatchObject({ acked: 1, returned: 1 })
    expect(subject.state).toBe('consuming')
    await subject.stop()
  })
})
