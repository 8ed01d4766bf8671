import { expect, it } from '@jest/globals'
import { reject, type HandlerReturn } from '@litebus/core'
import type { PostgresTransaction } from '@litebus/storage-postgres'
import { expectTerminals } from '../consumer/expect-terminals.ts'
import { openConsumer } from '../consumer/open-consumer.ts'
import { openFragileStore } from '../ingress/store-outages.ts'
import { eventually } from '../services/index.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import { orderBody } from '../transports/message-path.ts'

/** A handler that counts its runs and waits where it is told to. */
function counting(work: () => HandlerReturn = () => undefined): {
  readonly runs: () => number
  readonly handle: () => HandlerReturn
} {
  let runs = 0
  return {
    runs: () => runs,
    handle() {
      runs += 1
      return work()
    },
  }
}

await describeTransports('a consumer that deduplicates', ({ withPath }) => {
  it('accepts a duplicate without running its handler again, also in another process', () =>
    withPath(async (path) => {
      const { runs, handle } = counting()
      const first = await openConsumer(path, { dedup: { store: path.storage.dedup }, handle })
      await first.order('a')
      await first.order('a')
      await first.consumer.start()
      await expectTerminals(path, first, { deliveries: 2, acked: 2 })
      await first.consumer.stop({ budgetMs: 5000 })
      const second = await openConsumer(path, {
        dedup: { store: path.storage.dedup },
        handle,
        source: first.target,
      })
      await second.order('a')
      await second.consumer.start()
      await expectTerminals(path, second, { deliveries: 1, acked: 1 })
      expect(runs()).toBe(1)
      expect(await path.fixture.count(second.dead.source)).toBe(0)
    }))

  it('lets each of two sources have its own message under one id, with one store', () =>
    withPath(async (path) => {
      const { runs, handle } = counting()
      for (const expected of [1, 2]) {
        const subject = await openConsumer(path, { dedup: { store: path.storage.dedup }, handle })
        await subject.order('a')
        await subject.order('a')
        await subject.consumer.start()
        await expectTerminals(path, subject, { deliveries: 2, acked: 2 })
        expect(runs()).toBe(expected)
        await subject.consumer.stop({ budgetMs: 5000 })
      }
    }))

  it('holds a duplicate while the first one is at work, spends no attempt on it, and accepts it then', () =>
    withPath(async (path) => {
      const { promise: end, resolve } = Promise.withResolvers<undefined>()
      const { runs, handle } = counting(() => end)
      const subject = await openConsumer(path, {
        dedup: { store: path.storage.dedup },
        handle,
        concurrency: 2,
        retry: { maxAttempts: 1 },
      })
      await subject.order('a')
      await subject.order('a')
      await subject.consumer.start()
      await eventually(
        () => {
          expect(subject.consumer.counts()).toMatchObject({ deliveries: 2, inFlight: 2 })
          expect(runs()).toBe(1)
        },
        { expectation: 'one at work and one held' },
      )
      resolve(undefined)
      await expectTerminals(path, subject, { deliveries: 2, acked: 2 })
      expect(runs()).toBe(1)
      expect(await path.fixture.count(subject.dead.source)).toBe(0)
      expect(await path.fixture.count(subject.again.source)).toBe(0)
    }))

  it('runs a duplicate of what failed, since nothing was done', () =>
    withPath(async (path) => {
      let refuses = true
      const { runs, handle } = counting(() => (refuses ? reject({ code: 'NO' }) : undefined))
      const subject = await openConsumer(path, { dedup: { store: path.storage.dedup }, handle })
      await subject.order('a')
      await subject.consumer.start()
      await expectTerminals(path, subject, { acked_dead_letter: 1 })
      refuses = false
      await subject.order('a')
      await expectTerminals(path, subject, { acked_dead_letter: 1, acked: 1 })
      expect(runs()).toBe(2)
    }))

  it('commits what a transactional handler did together with the completion, or nothing', () =>
    withPath(async (path) => {
      await path.pool.query('create table shipped (id text not null)')
      let failures = 1
      const subject = await openConsumer(path, {
        dedup: { store: path.storage.dedup },
        transactional: true,
        retry: { mode: 'inline', maxAttempts: 3 },
        async handle({ id }, { transaction }) {
          await (transaction as PostgresTransaction).query('insert into shipped (id) values ($1)', [id])
          if (failures-- > 0) throw new Error('after the insert')
        },
      })
      await subject.order('a')
      await subject.put({ messageId: 'a', body: orderBody('a') })
      await subject.order('b')
      await subject.consumer.start()
      await expectTerminals(path, subject, { deliveries: 3, acked: 3 })
      const { rows } = await path.pool.query<{ id: string }>('select id from shipped order by id')
      expect(rows.map(({ id }) => id)).toEqual(['a', 'b'])
    }))

  it('stands still while its store is out of reach, parks nothing, spends nothing, and goes on by itself', () =>
    withPath(async (path) => {
      const { storage, proxy } = await openFragileStore(path)
      const { runs, handle } = counting()
      const subject = await openConsumer(path, { dedup: { store: storage.dedup }, handle, concurrency: 4 })
      await subject.consumer.start()
      await subject.order('before')
      await expectTerminals(path, subject, { deliveries: 1, acked: 1 })
      proxy.refuse()
      proxy.cut()
      for (const id of ['a', 'b', 'c', 'a', 'b', 'c']) await subject.order(id)
      await eventually(
        () => {
          expect(subject.consumer.pausedBy).toEqual(['store'])
        },
        { expectation: 'intake to stand still' },
      )
      expect(runs()).toBe(1)
      proxy.accept()
      await expectTerminals(path, subject, { deliveries: 7, acked: 7, returned: 0 })
      expect(runs()).toBe(4)
      expect(subject.consumer.pausedBy).toEqual([])
      expect(await path.fixture.count(subject.dead.source)).toBe(0)
    }))
})
