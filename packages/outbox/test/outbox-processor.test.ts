import { describe, expect, it } from '@jest/globals'
import { defineContract, OptionsError } from '@litebus/core'
import { eventually } from '../../../integration-tests/services/eventually.ts'
import { createOutboxProcessor } from '../src/index.ts'
import { bench, orderPlaced } from './arrange.ts'

describe('construction', () => {
  it('wants exactly one of transport and dispatcher', () => {
    const { storage, transport } = bench()
    const dispatcher = { dispatch: () => ({ kind: 'succeeded' }) as const }
    expect(() => createOutboxProcessor({ store: storage.outbox })).toThrow(
      /exactly one of transport and dispatcher, found none/,
    )
    expect(() => createOutboxProcessor({ store: storage.outbox, transport, dispatcher })).toThrow(
      /found both/,
    )
  })

  it('names every fault at once', () => {
    const { storage, transport } = bench()
    const create = (): unknown =>
      createOutboxProcessor({ store: storage.inbox, transport, publishTimeoutMs: 60_000 })
    expect(create).toThrow(OptionsError)
    expect(create).toThrow(/found the inbox.*publishTimeoutMs above 0 and below leaseMs \(60000\)/)
  })
})

describe('hooks', () => {
  const failing = {
    afterDispatch: () => {
      throw new Error('hook')
    },
  }

  it('that fail after a confirmed publish do not park the message', async () => {
    const { outbox, relay, stands } = bench()
    const { id } = await outbox.enqueue(orderPlaced, { id: '1' })
    await relay({ hooks: failing }).processPending()
    expect(await stands(id)).toBe('succeeded 1')
  })

  it('park it where that is asked for', async () => {
    const { outbox, relay, stands } = bench()
    const { id } = await outbox.enqueue(orderPlaced, { id: '1' })
    await relay({ hooks: failing, onHookFailure: 'deadLetter' }).processPending()
    expect(await stands(id)).toBe('parked 1')
  })

  it('park by default what is dispatched in this process', async () => {
    const { outbox, relay, stands } = bench()
    const { id } = await outbox.enqueue(orderPlaced, { id: '1' })
    const dispatcher = { dispatch: () => ({ kind: 'succeeded' }) as const }
    await relay({ hooks: failing, dispatcher }).processPending()
    expect(await stands(id)).toBe('parked 1')
  })

  it('that fail before the dispatch publish nothing and fail the attempt', async () => {
    const { outbox, relay, stands, waiting } = bench()
    const { id } = await outbox.enqueue(orderPlaced, { id: '1' })
    const hooks = { beforeDispatch: failing.afterDispatch }
    await relay({ hooks }).processPending()
    expect([await stands(id), waiting('orders')]).toEqual(['retryScheduled 1', []])
  })
})

describe('validation before a publish', () => {
  const strict = defineContract<{ id: string }>({
    name: 'orders',
    version: 1,
    schema: {
      '~standard': {
        version: 1,
        vendor: 'test',
        validate: (value) =>
          (value as { id: string }).id === 'good'
            ? { value: { id: 'good' } }
            : { issues: [{ message: 'bad' }] },
      },
    },
  })

  it('parks at once what the schema refuses, and publishes the rest unchanged', async () => {
    const { outbox, relay, stands, waiting } = bench()
    const bad = await outbox.enqueue(orderPlaced, { id: 'bad' })
    const good = await outbox.enqueue(orderPlaced, { id: 'good' })
    expect(await relay({ validate: [strict] }).processPending()).toMatchObject({
      succeeded: 1,
      deadLettered: 1,
    })
    expect([await stands(bad.id), await stands(good.id)]).toEqual(['parked 1', 'succeeded 1'])
    expect(waiting('orders')).toHaveLength(1)
  })

  it('does not happen unless it is asked for', async () => {
    const { outbox, relay, waiting } = bench()
    await outbox.enqueue(orderPlaced, { id: 'bad' })
    await relay().processPending()
    expect(waiting('orders')).toHaveLength(1)
  })
})

describe('batches', () => {
  it('of two leases are under way at a time: one is sent while the other waits for its confirms', async () => {
    const { broker, outbox, relay, waiting } = bench()
    for (const id of ['1', '2', '3', '4', '5']) await outbox.enqueue(orderPlaced, { id })
    const confirm = broker.faults.holdConfirms()
    const subject = relay({ batchSize: 2 })
    subject.start()
    const published = (count: number): Promise<void> =>
      eventually(
        () => {
          expect(waiting('orders')).toHaveLength(count)
        },
        { expectation: `${String(count)} messages to be published`, intervalMs: 5 },
      )
    await published(4)
    confirm()
    await published(5)
    await subject.stop()
  })
})
