import { describe, expect, it } from '@jest/globals'
import { InboxStorageError, StoreUnavailableError, type InboxReceipt } from '@litebus/core'
import { createInbox } from '@litebus/inbox'
import { bench, contractHeaders, orderPlaced } from './arrange.ts'

const names = (count: number): string[] => Array.from({ length: count }, (_, index) => `m${String(index)}`)

describe('batch accept', () => {
  it('flushes at its size, and what is left after its wait', async () => {
    const parts = bench()
    const sizes: number[] = []
    parts.before = (ids) => {
      sizes.push(ids.length)
    }
    const subject = parts.ingress({ batch: { enabled: true, size: 10, maxWaitMs: 200 } })
    parts.order(...names(25))
    await subject.start()
    await parts.clock.advance(199)
    expect(sizes).toEqual([10, 10])
    expect(subject.counts()).toMatchObject({ acked: 20, inFlight: 5 })
    await parts.clock.advance(1)
    expect(sizes).toEqual([10, 10, 5])
    expect(subject.counts()).toMatchObject({ acked: 25, inFlight: 0 })
    await subject.stop()
  })

  it('flushes on a stop, and sends at once what comes to it afterwards', async () => {
    const parts = bench()
    const sizes: number[] = []
    parts.before = (ids) => {
      sizes.push(ids.length)
    }
    const subject = parts.ingress({ batch: { enabled: true, size: 10, maxWaitMs: 60_000 } })
    const headers = { ...contractHeaders, 'litebus-ordering-key': 'k' }
    parts.put({ messageId: 'a', headers }, { messageId: 'b', headers }, { messageId: 'c' })
    await subject.start()
    await parts.clock.advance(1)
    expect(sizes).toEqual([])
    const stopped = subject.stop()
    await parts.clock.advance(1)
    expect(await stopped).toMatchObject({ outcome: 'graceful', settlements: { deliveries: 3, acked: 3 } })
    expect(sizes).toEqual([2, 1])
  })

  it.each([
    ['fewer receipts than slots', (receipts: readonly InboxReceipt[]) => receipts.slice(0, 1)],
    ['no receipt for one slot', ([first, , last]: readonly InboxReceipt[]) => [first, undefined, last]],
    ['no list', () => undefined],
  ])(
    'by an inbox that answers %s accepts what it told of, and tries the rest again',
    async (_name, wrong) => {
      const parts = bench()
      const right = createInbox({ store: parts.storage.inbox, contracts: [orderPlaced] })
      let calls = 0
      const inbox: typeof right = {
        ...right,
        async acceptBatch(items) {
          const receipts = await right.acceptBatch(items)
          calls += 1
          return calls === 1 ? (wrong(receipts) as never) : receipts
        },
      }
      const subject = parts.ingress({ inbox, batch: { enabled: true, size: 3, maxWaitMs: 50 } })
      parts.order('a', 'b', 'c')
      await subject.start()
      for (let round = 0; round < 10; round += 1) await parts.clock.advance(200)
      expect(subject.counts()).toMatchObject({ deliveries: 3, acked: 3, inFlight: 0 })
      expect(await parts.rows()).toHaveLength(3)
      await subject.stop()
    },
  )

  it('with one poison in 50 costs the other 49 nothing', async () => {
    const parts = bench()
    parts.before = (ids) => {
      if (ids.includes('m7')) throw new InboxStorageError('x')
    }
    const subject = parts.ingress({ maxInFlightMessages: 50, batch: { enabled: true, size: 50 } })
    parts.order(...names(50))
    await subject.start()
    await parts.clock.advance(1)
    expect(subject.counts()).toMatchObject({ deliveries: 50, acked: 49, discarded: 1, inFlight: 0 })
    expect(parts.events()).toEqual([3003, 3006, 3005])
    expect(
      parts.logged.filter(({ fields }) => fields.eventId !== undefined).map(({ level }) => level),
    ).toEqual(['error', 'warn', 'warn'])
    expect(await parts.rows()).toHaveLength(49)
    await subject.stop()
  })

  it('with one delivery that cannot be mapped does not even notice', async () => {
    const parts = bench()
    const subject = parts.ingress({ batch: { enabled: true, size: 3 } })
    parts.put({ messageId: 'poison', headers: {} })
    parts.order(...names(3))
    await subject.start()
    await parts.clock.advance(1)
    expect(subject.counts()).toMatchObject({ acked: 3, discarded: 1 })
    expect(parts.events()).toEqual([3005])
    await subject.stop()
  })

  it('whose flush fails after the store committed writes nothing twice', async () => {
    const parts = bench()
    const subject = parts.ingress({ batch: { enabled: true, size: 5 } })
    const { inbox } = parts.storage
    let fail = true
    const append = inbox.append.bind(inbox)
    Object.assign(inbox, {
      append: async (...args: Parameters<typeof append>) => {
        const results = await append(...args)
        if (fail) {
          fail = false
          throw new StoreUnavailableError('connection reset after commit')
        }
        return results
      },
    })
    parts.order(...names(5))
    await subject.start()
    await parts.clock.advance(6000)
    expect(subject.counts()).toMatchObject({ deliveries: 5, acked: 5, inFlight: 0 })
    expect(await parts.rows()).toHaveLength(5)
    await subject.stop()
  })

  it('in an outage holds all of them and goes on together', async () => {
    const parts = bench()
    let down = true
    parts.before = () => {
      if (down) throw new StoreUnavailableError('down')
    }
    const subject = parts.ingress({ batch: { enabled: true, size: 5 } })
    parts.order(...names(5))
    await subject.start()
    await parts.clock.advance(60_000)
    expect(subject.counts()).toMatchObject({ inFlight: 5, returned: 0 })
    expect(parts.events()).not.toContain(3006)
    down = false
    await parts.clock.advance(6000)
    expect(subject.counts()).toMatchObject({ deliveries: 5, acked: 5 })
    await subject.stop()
  })

  it('that never answers is an outage, and what it committed late is met as duplicates', async () => {
    const parts = bench()
    const subject = parts.ingress({ executionBudgetMs: 1000, batch: { enabled: true, size: 5 } })
    const { inbox } = parts.storage
    const append = inbox.append.bind(inbox)
    let silent = true
    Object.assign(inbox, {
      append: async (...args: Parameters<typeof append>) => {
        const results = await append(...args)
        return silent ? new Promise<never>(() => undefined) : results
      },
    })
    parts.order(...names(5))
    await subject.start()
    await parts.clock.advance(999)
    expect(subject.pausedBy).toEqual([])
    await parts.clock.advance(1)
    expect([subject.pausedBy, subject.counts().inFlight]).toEqual([['store'], 5])
    silent = false
    await parts.clock.advance(6000)
    expect(subject.counts()).toMatchObject({ deliveries: 5, acked: 5, inFlight: 0 })
    expect(await parts.rows()).toHaveLength(5)
    await subject.stop()
  })

  it('settles each delivery on its own', async () => {
    const parts = bench()
    const subject = parts.ingress({ batch: { enabled: true, size: 3 } })
    parts.broker.faults.failNextSettlement({ result: 'unknown' })
    parts.order(...names(3))
    await subject.start()
    await parts.clock.advance(1)
    expect(subject.counts()).toMatchObject({ acked: 2, unresolved: 1 })
    await parts.clock.advance(200)
    expect(subject.counts()).toMatchObject({ deliveries: 4, acked: 3, unresolved: 1 })
    expect(await parts.rows()).toHaveLength(3)
    await subject.stop()
  })
})
