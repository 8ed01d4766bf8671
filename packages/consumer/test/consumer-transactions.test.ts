import { describe, expect, it } from '@jest/globals'
import { defineTransactionalHandler, reject, StoreUnavailableError } from '@litebus/core'
import type { MemoryStorage, MemoryTransaction } from '@litebus/storage-memory'
import { orderPlaced } from './arrange.ts'
import { dedupBench } from './dedup-arrange.ts'

describe('a transactional handler of a consumer', () => {
  it('commits what it did together with the completion, once for two deliveries', async () => {
    const { clock, create, order, storage } = dedupBench()
    const handlers = [
      defineTransactionalHandler<{ id: string }, MemoryTransaction>({
        contract: orderPlaced,
        async handle(_order, { transaction }) {
          await storage.outbox.append([written()], { transaction })
        },
      }),
    ]
    const subject = create({ handlers })
    order('a', 'a')
    await subject.start()
    await clock.advance(1)
    expect(subject.counts()).toMatchObject({ acked: 2, inFlight: 0 })
    expect((await storage.outbox.query({ limit: 10 })).records).toHaveLength(1)
    await subject.stop()
  })

  it.each([
    ['rejects', () => reject({ code: 'NO' })],
    [
      'throws',
      () => {
        throw new Error('x')
      },
    ],
  ] as const)('that %s leaves nothing behind, and its message is parked', async (_name, end) => {
    const { clock, create, order, storage, waiting } = dedupBench()
    const handlers = [
      defineTransactionalHandler<{ id: string }, MemoryTransaction>({
        contract: orderPlaced,
        async handle(_order, { transaction }) {
          await storage.outbox.append([written()], { transaction })
          return end()
        },
      }),
    ]
    const subject = create({ handlers })
    order('a')
    await subject.start()
    await clock.advance(1)
    expect(subject.counts()).toMatchObject({ acked_dead_letter: 1, inFlight: 0 })
    expect((await storage.outbox.query({ limit: 10 })).records).toEqual([])
    expect(waiting('orders.dead')).toHaveLength(1)
    await subject.stop()
  })

  it.each([
    ['took place', true],
    ['did not take place', false],
  ])('whose commit %s without an answer is decided by the next claim', async (_name, committed) => {
    const { clock, create, order, storage, faulty } = dedupBench()
    let unanswered = 1
    const store = faulty({
      async completeInTransaction(held, work, options) {
        if (unanswered-- <= 0) return storage.dedup.completeInTransaction(held, work, options)
        if (committed) await storage.dedup.completeInTransaction(held, work, options)
        else await work(storage.begin())
        throw new StoreUnavailableError('no answer')
      },
    })
    let runs = 0
    const handlers = [
      defineTransactionalHandler<{ id: string }, MemoryTransaction>({
        contract: orderPlaced,
        handle() {
          runs += 1
        },
      }),
    ]
    const subject = create({ handlers, dedup: { store } })
    order('a')
    await subject.start()
    await clock.advance(1000)
    expect(runs).toBe(committed ? 1 : 2)
    expect(subject.counts()).toMatchObject({ deliveries: 1, acked: 1, inFlight: 0 })
    await subject.stop()
  })
})

function written(): Parameters<MemoryStorage['outbox']['append']>[0][number] {
  return {
    id: crypto.randomUUID(),
    contractName: 'sent',
    contractVersion: 1,
    body: new TextEncoder().encode('{}'),
  }
}
