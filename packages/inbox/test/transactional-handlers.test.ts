import { describe, expect, it } from '@jest/globals'
import {
  createHandlerRegistry,
  reject,
  retry,
  StoreUnavailableError,
  type HandlerResult,
} from '@litebus/core'
import { createOutboxWriter, effects } from './effects.ts'
import { createHandlerDispatcher } from '../src/handler-dispatcher.ts'
import { createInbox, defineTransactionalHandler } from '../src/index.ts'
import { bench, orderPlaced } from './arrange.ts'
import type { MemoryStorage, MemoryTransaction } from '@litebus/storage-memory'

/** A handler whose effect is a message in the outbox of the same storage. */
function effectful(
  storage: MemoryStorage,
  end: () => HandlerResult | Promise<HandlerResult> = () => undefined,
) {
  const write = createOutboxWriter(storage)
  return defineTransactionalHandler({
    contract: orderPlaced,
    async handle(order, { transaction }: { readonly transaction: MemoryTransaction }) {
      await write(order.id, transaction)
      return end()
    },
  })
}

describe('a transactional handler', () => {
  it('completes its message and its effect in one transaction', async () => {
    const { inbox, processor, row, storage } = bench()
    const { id } = await inbox.accept(orderPlaced, { id: '1' })
    expect((await processor([effectful(storage)]).processPending()).succeeded).toBe(1)
    expect([(await row(id))?.state, await effects(storage)]).toEqual(['succeeded', ['1']])
  })

  it.each<[string, () => HandlerResult, string]>([
    [
      'throws',
      () => {
        throw new Error('x')
      },
      'retryScheduled',
    ],
    ['asks for a retry', () => retry({ code: 'LATER' }), 'retryScheduled'],
    ['rejects', () => reject({ code: 'NEVER' }), 'parked'],
    [
      'finds the store unavailable',
      () => {
        throw new StoreUnavailableError('x')
      },
      'retryScheduled',
    ],
  ])('that %s leaves no effect behind', async (_name, end, state) => {
    const { inbox, processor, row, storage } = bench()
    const { id } = await inbox.accept(orderPlaced, { id: '1' })
    await processor([effectful(storage, end)]).processPending()
    expect([(await row(id))?.state, await effects(storage)]).toEqual([state, []])
  })

  it('that lost its lease leaves no effect behind, and its message to the new owner', async () => {
    const { clock, inbox, processor, row, storage } = bench()
    const { id } = await inbox.accept(orderPlaced, { id: '1' })
    const { promise, resolve } = Promise.withResolvers<undefined>()
    const store = { ...storage.inbox, renew: () => Promise.reject(new StoreUnavailableError('x')) }
    const pass = processor([effectful(storage, () => promise)], {
      store,
      leaseMs: 1000,
      heartbeatMs: 400,
    }).processPending()
    await clock.advance(1100)
    const other = storage.another().inbox
    const [taken] = (await other.lease({ owner: 'other', limit: 1, leaseMs: 60_000, maxAttempts: 10 }))
      .envelopes
    expect(taken?.lease.id).toBe(id)
    resolve(undefined)
    await clock.advance(1)
    expect(await pass).toMatchObject({ leaseLost: 1, succeeded: 0, failed: 0 })
    expect([(await row(id))?.state, await effects(storage)]).toEqual(['leased', []])
  })

  it('whose commit has no answer is not marked failed: its lease runs out, and redispatch decides', async () => {
    const { clock, inbox, processor, row, storage } = bench()
    const { id } = await inbox.accept(orderPlaced, { id: '1' })
    let unknown = true
    const store: typeof storage.inbox = {
      ...storage.inbox,
      async completeInTransaction(lease, work) {
        if (!unknown) return storage.inbox.completeInTransaction(lease, work)
        const transaction = storage.begin()
        await work(transaction)
        transaction.rollback()
        throw new StoreUnavailableError('connection lost in commit')
      },
    }
    const subject = processor([effectful(storage)], { store, leaseMs: 1000, heartbeatMs: 400 })
    expect(await subject.processPending()).toMatchObject({ persistFailed: 1, failed: 0, succeeded: 0 })
    expect(await row(id)).toMatchObject({ state: 'leased', failures: [] })
    unknown = false
    await clock.advance(1100)
    expect((await subject.processPending()).succeeded).toBe(1)
    expect(await effects(storage)).toEqual(['1'])
  })

  it('whose commit took place although its answer was lost has one effect and runs no second time', async () => {
    const { clock, inbox, processor, row, storage } = bench()
    const { id } = await inbox.accept(orderPlaced, { id: '1' })
    const store: typeof storage.inbox = {
      ...storage.inbox,
      async completeInTransaction(lease, work) {
        await storage.inbox.completeInTransaction(lease, work)
        throw new StoreUnavailableError('connection lost after commit')
      },
    }
    const subject = processor([effectful(storage)], { store, leaseMs: 1000, heartbeatMs: 400 })
    expect(await subject.processPending()).toMatchObject({ persistFailed: 1 })
    await clock.advance(60_000)
    expect((await subject.processPending()).leased).toBe(0)
    expect([(await row(id))?.state, await effects(storage)]).toEqual(['succeeded', ['1']])
  })

  it('that the commit itself refuses has failed', async () => {
    const { inbox, processor, row, storage } = bench()
    const { id } = await inbox.accept(orderPlaced, { id: '1' })
    const store: typeof storage.inbox = {
      ...storage.inbox,
      async completeInTransaction(_lease, work) {
        const transaction = storage.begin()
        await work(transaction)
        transaction.rollback()
        throw Object.assign(new Error('deferred constraint'), { code: '23503' })
      },
    }
    expect(await processor([effectful(storage)], { store }).processPending()).toMatchObject({ failed: 1 })
    expect([(await row(id))?.state, await effects(storage)]).toEqual(['retryScheduled', []])
  })

  it('cannot be declared as not transactional', () => {
    expect(() =>
      defineTransactionalHandler({ contract: orderPlaced, transactional: false, handle: () => undefined }),
    ).toThrow(/transactional: false/)
  })
})

describe('a transactional handler that never ends', () => {
  it('is given up after its budget: its effects are taken back, its connection is free', async () => {
    const { clock, inbox, processor, row, storage } = bench()
    const { id } = await inbox.accept(orderPlaced, { id: '1' })
    const endless = new Promise<undefined>(() => undefined)
    const pass = processor([effectful(storage, () => endless)], {
      executionBudgetMs: 1000,
      abortWaitMs: 100,
    }).processPending()
    await clock.advance(1100)
    expect(await pass).toMatchObject({ failed: 1 })
    expect(await effects(storage)).toEqual([])
    expect(await row(id)).toMatchObject({
      state: 'retryScheduled',
      failures: [{ category: 'TIMEOUT', code: 'EXECUTION_BUDGET_EXCEEDED' }],
    })
  })
})

describe('the signal of a handler', () => {
  it.each([true, false])(
    'is not made for one that does not ask (transactional: %p)',
    async (transactional) => {
      const { storage } = bench()
      let asked = 0
      const registry = createHandlerRegistry<MemoryTransaction>([
        { contract: orderPlaced, transactional, handle: () => undefined },
      ])
      const { id } = await createInbox({ store: storage.inbox, contracts: [orderPlaced] }).accept(
        orderPlaced,
        {
          id: '1',
        },
      )
      const { envelopes } = await storage.inbox.lease({ owner: 'w', limit: 1, leaseMs: 1000, maxAttempts: 1 })
      const [envelope] = envelopes
      if (envelope?.message.id !== id) throw new Error('expected the message')
      const never = new AbortController().signal
      await createHandlerDispatcher({ registry, store: storage.inbox }).dispatch(envelope, {
        stopping: never,
        givenUp: never,
        get signal() {
          asked += 1
          return never
        },
      })
      expect(asked).toBe(0)
    },
  )
})
