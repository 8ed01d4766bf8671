import { describe, expect, it } from '@jest/globals'
import { defineContract, reject, retry, type HandlerContext, type HandlerReturn } from '@litebus/core'
import { createInboxProcessor, defineHandler } from '../src/index.ts'
import { bench, orderPlaced, type Order } from './arrange.ts'

const handler = (handle: (order: Order, context: HandlerContext) => HandlerReturn) =>
  defineHandler({ contract: orderPlaced, handle })

describe('a handler that', () => {
  it('returns nothing completes its message', async () => {
    const { inbox, processor, row } = bench()
    const { id } = await inbox.accept(orderPlaced, { id: '1' })
    await processor([handler(() => undefined)]).processPending()
    expect((await row(id))?.state).toBe('succeeded')
  })

  it('asks for a retry gets one after the delay it asks for, with its code kept', async () => {
    const { clock, inbox, processor, row } = bench()
    const { id } = await inbox.accept(orderPlaced, { id: '1' })
    const subject = processor([
      handler((_order, { attempt }) => (attempt === 1 ? retry({ code: 'later', afterMs: 50 }) : undefined)),
    ])
    await subject.processPending()
    expect(await row(id)).toMatchObject({
      state: 'retryScheduled',
      dueAt: new Date(clock.now() + 50),
      failures: [{ attempt: 1, category: 'UNKNOWN', code: 'LATER' }],
    })
    await clock.advance(50)
    expect((await subject.processPending()).succeeded).toBe(1)
  })

  it.each([Number.NaN, -1])(
    'asks for a retry after %p ms gets one at once, and not never',
    async (afterMs) => {
      const { inbox, processor } = bench()
      await inbox.accept(orderPlaced, { id: '1' })
      const subject = processor([
        handler((_order, { attempt }) => (attempt === 1 ? retry({ code: 'X', afterMs }) : undefined)),
      ])
      await subject.processPending()
      expect((await subject.processPending()).succeeded).toBe(1)
    },
  )

  it('rejects parks its message at once', async () => {
    const { inbox, processor, row } = bench()
    const { id } = await inbox.accept(orderPlaced, { id: '1' })
    await processor([handler(() => reject({ code: 'never' }))]).processPending()
    expect(await row(id)).toMatchObject({
      state: 'parked',
      failures: [{ category: 'REJECTED', code: 'NEVER' }],
    })
  })

  it('throws fails the attempt, classified by type and code, without its text', async () => {
    const { inbox, processor, row } = bench()
    const { id } = await inbox.accept(orderPlaced, { id: '1' })
    await processor([
      handler(() => {
        throw Object.assign(new Error('password=hunter2'), { code: 'ECONNREFUSED' })
      }),
    ]).processPending()
    const record = await row(id)
    expect(record).toMatchObject({
      state: 'retryScheduled',
      failures: [{ category: 'DEPENDENCY', code: 'ECONNREFUSED' }],
    })
    expect(JSON.stringify(record?.failures)).not.toContain('hunter2')
  })

  it('throws what the classifier of the user calls permanent parks its message', async () => {
    const { inbox, processor, row } = bench()
    const { id } = await inbox.accept(orderPlaced, { id: '1' })
    const failing = handler(() => {
      throw new RangeError('x')
    })
    const classifier = (error: unknown) =>
      error instanceof RangeError ? ({ category: 'VALIDATION', code: 'range' } as const) : undefined
    await processor([failing], { classifier }).processPending()
    expect(await row(id)).toMatchObject({
      state: 'parked',
      failures: [{ category: 'VALIDATION', code: 'RANGE' }],
    })
  })

  it('returns something else has made a mistake, which is parked and not taken for success', async () => {
    const { inbox, processor, row } = bench()
    const { id } = await inbox.accept(orderPlaced, { id: '1' })
    await processor([handler(() => ({ rows: 1 }) as never)]).processPending()
    expect(await row(id)).toMatchObject({ state: 'parked', failures: [{ code: 'HANDLER_RESULT_INVALID' }] })
  })
})

describe('what a handler is given', () => {
  it('is the message and what is known about it', async () => {
    const { clock, inbox, processor } = bench()
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const facts = {
      tenantId: 't',
      orderingKey: 'k',
      correlationId: 'c',
      causationId: 'd',
      headers: { note: 'n' },
      trace: { traceparent },
    }
    const { id } = await inbox.accept(orderPlaced, { id: '1' }, facts)
    const seen: { order: Order; context: HandlerContext }[] = []
    await processor([
      handler((order, context) => {
        seen.push({ order, context })
      }),
    ]).processPending()
    expect(seen[0]?.order).toEqual({ id: '1' })
    expect(seen[0]?.context).toMatchObject({
      ...facts,
      messageId: id,
      handler: 'order-placed',
      attempt: 1,
      contract: { name: 'order-placed', version: 1 },
      createdAt: new Date(clock.now()),
    })
    expect([seen[0]?.context.signal.aborted, seen[0]?.context.stopping.aborted]).toEqual([false, false])
  })
})

describe('versions', () => {
  const v3 = defineContract<{ name: string; unit: string }>({
    name: 'order-placed',
    version: 3,
    upcast: {
      1: (old) => ({ name: (old as Order).id }),
      2: (old) => ({ ...(old as { name: string }), unit: 'piece' }),
    },
  })

  it('older ones are lifted step by step to the one that the handler knows', async () => {
    const { processor, store } = bench()
    const seen: unknown[] = []
    await store({ id: '1' })
    await store({ name: '2' }, { contractVersion: 2 })
    await store({ name: '3', unit: 'box' }, { contractVersion: 3 })
    await processor([
      defineHandler({
        contract: v3,
        handle(message, { contract }) {
          seen.push([message, contract.version])
        },
      }),
    ]).processPending()
    expect(seen).toEqual([
      [{ name: '1', unit: 'piece' }, 1],
      [{ name: '2', unit: 'piece' }, 2],
      [{ name: '3', unit: 'box' }, 3],
    ])
  })

  it.each<[string, number, string, string]>([
    ['a missing upcaster', 1, 'PAYLOAD_INVALID', 'DESERIALIZATION'],
    ['a version newer than every handler', 3, 'CONTRACT_NOT_REGISTERED', 'CONFIGURATION'],
  ])('%s is a clear failure and not a cast', async (_name, contractVersion, code, category) => {
    const v2 = defineContract<Order>({ name: 'order-placed', version: 2 })
    const { processor, row, store } = bench()
    const id = await store({ id: '1' }, { contractVersion })
    await processor([defineHandler({ contract: v2, handle: () => undefined })]).processPending()
    expect(await row(id)).toMatchObject({ state: 'parked', failures: [{ code, category }] })
  })
})

describe('a message that cannot be dispatched', () => {
  it.each<[string, unknown, string, string]>([
    ['of an unknown contract', { id: '1' }, 'unknown', 'CONTRACT_NOT_REGISTERED'],
    ['that the schema refuses', { id: 7 }, 'order-placed', 'PAYLOAD_INVALID'],
  ])('%s is parked, and the others go on', async (_name, body, contractName, code) => {
    const { processor, row, store } = bench()
    const bad = await store(body, { contractName })
    const good = await store({ id: '1' })
    const summary = await processor([handler(() => undefined)]).processPending()
    expect(summary).toMatchObject({ deadLettered: 1, succeeded: 1 })
    expect([await row(bad), (await row(good))?.state]).toMatchObject([{ failures: [{ code }] }, 'succeeded'])
  })

  it('is left alone by a processor that is not for its contract', async () => {
    const { processor, row, store } = bench()
    const id = await store({ id: '1' }, { contractName: 'other' })
    await processor([handler(() => undefined)], { contracts: ['order-placed'] }).processPending()
    expect((await row(id))?.state).toBe('awaiting')
  })
})

describe('construction', () => {
  it.each([
    ['no handler', [], /at least one handler/],
    [
      'two handlers of one contract and version',
      [handler(() => undefined), handler(() => undefined)],
      /two of order-placed version 1/,
    ],
    [
      'a handler that cannot be called',
      [{ contract: orderPlaced, handle: 'x' as never }],
      /handler.handle to be a function, found text/,
    ],
  ])('refuses %s', (_name, handlers, message) => {
    const { processor } = bench()
    expect(() => processor(handlers)).toThrow(message)
  })

  it('refuses the other face of a store and wrong tuning', () => {
    const { processor, storage } = bench()
    const handlers = [handler(() => undefined)]
    expect(() => createInboxProcessor({ store: storage.outbox, handlers })).toThrow(/inbox face/)
    expect(() => processor(handlers, { leaseMs: 1000, heartbeatMs: 600 })).toThrow(/heartbeatMs/)
  })
})
