import { describe, expect, it } from '@jest/globals'
import {
  ArgumentError,
  defineContract,
  DuplicateInFlightError,
  IdempotencyConflictError,
  MessageContractNotRegisteredError,
  OptionsError,
  PayloadError,
  StoreUnavailableError,
  type NewMessage,
  type WriteOptions,
} from '@litebus/core'
import { createInbox } from '../src/index.ts'
import { bench, orderPlaced } from './arrange.ts'

const id = '0198c0de-0000-7000-8000-000000000001'

describe('a write that is refused', () => {
  it.each<[string, Partial<WriteOptions>, RegExp]>([
    ['an id that is no UUID', { messageId: '7' }, /UUID/],
    ['an empty key', { idempotency: { key: '' } }, /idempotency\.key of 1 to 512/],
    ['a key that is too long', { idempotency: { key: 'k'.repeat(513) } }, /found 513/],
    ['an unknown mode', { idempotency: { key: 'k', mode: 'x' as 'strict' } }, /mode to be/],
    ['a NUL in the ordering key', { orderingKey: 'a\0' }, /orderingKey without NUL/],
    ['a lone surrogate in the tenant', { tenantId: '\ud800' }, /tenantId without NUL and lone surrogates/],
    [
      'a correlation id that is no text',
      { correlationId: 7 as unknown as string },
      /correlationId to be text/,
    ],
    ['a time that is no date', { visibility: { at: new Date(Number.NaN) } }, /visibility\.at/],
    ['a negative delay', { visibility: { afterMs: -1 } }, /visibility\.afterMs/],
    ['a delay that is no number', { visibility: { afterMs: Number.NaN } }, /visibility\.afterMs/],
    [
      'a reserved header',
      { headers: { 'litebus-message-id': 'x' } },
      /reserved header, found litebus-message-id/,
    ],
    ['a header of hops', { headers: { 'msg.anything': 'x' } }, /reserved header/],
    ['a header that is no text', { headers: { a: 1 as unknown as string } }, /header a to be text/],
    [
      'too many headers',
      { headers: Object.fromEntries(Array.from({ length: 65 }, (_, n) => [`h${String(n)}`, 'v'])) },
      /at most 64 headers/,
    ],
    ['a trace without traceparent', { trace: { traceparent: '' } }, /trace/],
  ])('for %s names the fault and writes nothing', async (_name, options, message) => {
    const { inbox, rows } = bench()
    const write = inbox.accept(orderPlaced, { id: '1' }, options)
    await expect(write).rejects.toThrow(ArgumentError)
    await expect(write).rejects.toThrow(message)
    expect(await rows()).toEqual([])
  })

  it('names every fault of its options at once, and no value that could be personal', async () => {
    const { inbox } = bench()
    const options = {
      tenantId: 'secret\0',
      orderingKey: '',
      visibility: { afterMs: -1 },
      headers: { 'litebus-x': 'secret' },
    }
    const write = inbox.accept(orderPlaced, { id: '1' }, options)
    await expect(write).rejects.toThrow(/tenantId.*orderingKey.*afterMs.*litebus-x/)
    await expect(write).rejects.toThrow(/^((?!secret).)*$/)
  })

  it.each([
    ['a message that the schema refuses', { id: 7 }, PayloadError],
    ['nothing', undefined, PayloadError],
  ])('for %s writes nothing', async (_name, message, error) => {
    const { inbox, rows } = bench()
    await expect(inbox.accept(orderPlaced, message as never)).rejects.toThrow(error)
    expect(await rows()).toEqual([])
  })

  it('for a message that cannot be serialized writes nothing', async () => {
    const loose = defineContract<unknown>({ name: 'loose', version: 1 })
    const { inbox, rows } = bench([loose])
    await expect(inbox.accept(loose, { big: 1n })).rejects.toThrow(PayloadError)
    expect(await rows()).toEqual([])
  })

  it('for a contract or version that is not registered writes nothing', async () => {
    const { inbox, rows } = bench()
    const other = defineContract<unknown>({ name: 'other', version: 1 })
    const newer = defineContract<{ id: string }>({ name: 'order-placed', version: 2 })
    await expect(inbox.accept(other, {})).rejects.toThrow(MessageContractNotRegisteredError)
    await expect(inbox.accept(newer, { id: '1' })).rejects.toThrow(MessageContractNotRegisteredError)
    expect(await rows()).toEqual([])
  })

  it('for its size writes nothing, and 0 means no limit', async () => {
    const { rows, storage } = bench()
    const small = createInbox({ store: storage.inbox, contracts: [orderPlaced], maxMessageBytes: 10 })
    await small.accept(orderPlaced, { id: '1' })
    await expect(small.accept(orderPlaced, { id: '12' })).rejects.toThrow(/at most 10 bytes, found 11/)
    expect(await rows()).toHaveLength(1)
    const unlimited = createInbox({ store: storage.inbox, contracts: [orderPlaced], maxMessageBytes: 0 })
    await unlimited.accept(orderPlaced, { id: 'x'.repeat(5_000_000) })
    expect(await rows()).toHaveLength(2)
  })

  it('in one slot of a batch writes none of the others', async () => {
    const { inbox, rows } = bench()
    const items = [{ id: '1' }, { id: 2 }, { id: '3' }].map((message) => ({ contract: orderPlaced, message }))
    await expect(inbox.acceptBatch(items)).rejects.toThrow(PayloadError)
    expect(await rows()).toEqual([])
  })

  it('by the store says what the store said', async () => {
    const { storage } = bench()
    const store = { ...storage.inbox, append: () => Promise.reject(new StoreUnavailableError('down')) }
    const inbox = createInbox({ store, contracts: [orderPlaced] })
    await expect(inbox.accept(orderPlaced, { id: '1' })).rejects.toThrow(StoreUnavailableError)
  })
})

it('says that an id is new only where it made it', async () => {
  const { storage } = bench()
  const written: NewMessage[] = []
  const store = {
    ...storage.inbox,
    append: (messages: readonly NewMessage[]) => {
      written.push(...messages)
      return storage.inbox.append(messages)
    },
  }
  const inbox = createInbox({ store, contracts: [orderPlaced] })
  const from = { messageId: id, handler: 'a', sent: new Map<string, number>() }
  for (const options of [{}, { messageId: id }, { from }] as const satisfies readonly WriteOptions[])
    await inbox.accept(orderPlaced, { id: '1' }, options)
  expect(written.map(({ idIsNew }) => idIsNew)).toEqual([true, undefined, undefined])
})

describe('construction', () => {
  it('refuses the other face of a store and every other fault at once', () => {
    const { storage } = bench()
    const create = (): unknown =>
      createInbox({
        store: storage.outbox,
        contracts: [],
        maxMessageBytes: -1,
        ordering: 'none' as 'commit',
      })
    expect(create).toThrow(OptionsError)
    expect(create).toThrow(/expected the inbox face.*maxMessageBytes.*ordering/)
  })

  it('refuses two contracts of one name and version', () => {
    const { storage } = bench()
    expect(() => createInbox({ store: storage.inbox, contracts: [orderPlaced, orderPlaced] })).toThrow(
      /two of order-placed version 1/,
    )
  })
})

describe('identity and idempotency', () => {
  it('the same id with the same body is accepted once, with another body it is a conflict', async () => {
    const { inbox, rows } = bench()
    const first = await inbox.accept(orderPlaced, { id: '1' }, { messageId: id.toUpperCase() })
    const second = await inbox.accept(orderPlaced, { id: '1' }, { messageId: id })
    expect([first.outcome, second.outcome, second.id]).toEqual(['accepted', 'alreadyAccepted', id])
    await expect(inbox.accept(orderPlaced, { id: '2' }, { messageId: id })).rejects.toThrow(
      IdempotencyConflictError,
    )
    expect(await rows()).toHaveLength(1)
  })

  it('a taken key gives the stored receipt back, or throws under strict', async () => {
    const { clock, inbox } = bench()
    const first = await inbox.accept(orderPlaced, { id: '1' }, { idempotency: { key: 'k' } })
    await clock.advance(1000)
    const again = await inbox.accept(orderPlaced, { id: '2' }, { idempotency: { key: 'k' } })
    expect(again).toEqual({ ...first, outcome: 'alreadyAccepted' })
    const strict = inbox.accept(orderPlaced, { id: '3' }, { idempotency: { key: 'k', mode: 'strict' } })
    await expect(strict).rejects.toThrow(IdempotencyConflictError)
  })

  it('keys are scoped to the tenant, and a blank tenant is the unscoped partition', async () => {
    const { inbox } = bench()
    const accept = async (tenantId?: string): Promise<string> =>
      (
        await inbox.accept(
          orderPlaced,
          { id: '1' },
          { idempotency: { key: 'k' }, ...(tenantId === undefined ? {} : { tenantId }) },
        )
      ).outcome
    expect([
      await accept('a'),
      await accept('b'),
      await accept(),
      await accept(''),
      await accept('a'),
    ]).toEqual(['accepted', 'accepted', 'accepted', 'alreadyAccepted', 'alreadyAccepted'])
  })

  it('each slot of a batch has its own outcome, also where two slots collide', async () => {
    const { inbox, rows } = bench()
    await inbox.accept(orderPlaced, { id: '0' }, { idempotency: { key: 'old' } })
    const receipts = await inbox.acceptBatch(
      ['old', 'new', 'new', 'other'].map((key) => ({
        contract: orderPlaced,
        message: { id: key },
        options: { idempotency: { key } },
      })),
    )
    expect(receipts.map(({ outcome }) => outcome)).toEqual([
      'alreadyAccepted',
      'accepted',
      'alreadyAccepted',
      'accepted',
    ])
    expect(receipts[2]?.id).toBe(receipts[1]?.id)
    expect(await rows()).toHaveLength(3)
  })

  it('a batch with strict conflicts writes nothing and lists the slots', async () => {
    const { inbox, rows } = bench()
    await inbox.accept(orderPlaced, { id: '0' }, { idempotency: { key: 'old' } })
    const items = ['new', 'old', 'other'].map((key) => ({
      contract: orderPlaced,
      message: { id: key },
      options: { idempotency: { key, mode: 'strict' as const } },
    }))
    await expect(inbox.acceptBatch(items)).rejects.toMatchObject({
      code: 'IDEMPOTENCY_CONFLICT',
      slots: [{ index: 1, on: 'key' }],
    })
    expect(await rows()).toHaveLength(1)
  })

  it('a key that another transaction is writing is a duplicate in flight, and decided when it ends', async () => {
    const { inbox, storage } = bench()
    const transaction = storage.begin()
    const options = { idempotency: { key: 'k' } }
    await inbox.accept(orderPlaced, { id: '1' }, { ...options, transaction })
    await expect(inbox.accept(orderPlaced, { id: '1' }, options)).rejects.toThrow(DuplicateInFlightError)
    transaction.rollback()
    expect((await inbox.accept(orderPlaced, { id: '1' }, options)).outcome).toBe('accepted')
  })

  it('an empty batch is no write', async () => {
    const { inbox } = bench()
    expect(await inbox.acceptBatch([])).toEqual([])
  })
})
