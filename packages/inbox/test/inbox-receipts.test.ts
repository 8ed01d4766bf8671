import { describe, expect, it } from '@jest/globals'
import { defineContract, type HandlerIdentity } from '@litebus/core'
import { bench, orderPlaced } from './arrange.ts'

const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'

describe('what a receipt confirms', () => {
  it('is storage: id, contract, time of the store, tenant and trace', async () => {
    const { clock, inbox, row } = bench()
    const receipt = await inbox.accept(orderPlaced, { id: '1' }, { tenantId: 't', trace: { traceparent } })
    expect(receipt).toEqual({
      id: expect.stringMatching(/^[0-9a-f-]{36}$/),
      contract: { name: 'order-placed', version: 1 },
      acceptedAt: new Date(clock.now()),
      outcome: 'accepted',
      tenantId: 't',
      trace: { traceparent },
    })
    expect((await row(receipt.id))?.state).toBe('awaiting')
  })

  it('is what the transaction of the caller makes true, or nothing', async () => {
    const { inbox, rows, storage } = bench()
    const lost = storage.begin()
    await inbox.accept(orderPlaced, { id: '1' }, { transaction: lost })
    lost.rollback()
    expect(await rows()).toEqual([])
    await storage.transaction((transaction) =>
      inbox.acceptBatch([{ contract: orderPlaced, message: { id: '2' } }], { transaction }),
    )
    expect(await rows()).toHaveLength(1)
  })
})

describe('what is stored', () => {
  it('is the given bytes, unchanged, where bytes are given', async () => {
    const { inbox, row } = bench()
    const body = new TextEncoder().encode('{ "id" : "Ω", "big": 12345678901234567890 }\n')
    const receipt = await inbox.accept(orderPlaced, { id: 'Ω' }, { body })
    body.fill(0)
    expect(new TextDecoder().decode((await row(receipt.id))?.message.body)).toBe(
      '{ "id" : "Ω", "big": 12345678901234567890 }\n',
    )
  })

  it('is what the serializer of the contract makes of the message', async () => {
    const binary = defineContract<string>({
      name: 'binary',
      version: 1,
      serializer: {
        contentType: 'text/plain',
        serialize: (message) => new TextEncoder().encode(`<${String(message)}>`),
        deserialize: (body) => new TextDecoder().decode(body).slice(1, -1),
      },
    })
    const { inbox, row } = bench([binary])
    const { id } = await inbox.accept(binary, 'ü')
    expect(new TextDecoder().decode((await row(id))?.message.body)).toBe('<ü>')
  })

  it('becomes due at once, at a time, or after a delay by the clock of the store', async () => {
    const { clock, inbox, row } = bench()
    const due = async (visibility?: { readonly at: Date } | { readonly afterMs: number }) => {
      const options = visibility === undefined ? {} : { visibility }
      return (await row((await inbox.accept(orderPlaced, { id: '1' }, options)).id))?.dueAt?.getTime()
    }
    expect(await due()).toBe(clock.now())
    expect(await due({ at: new Date(clock.now() + 5000) })).toBe(clock.now() + 5000)
    expect(await due({ afterMs: 7000 })).toBe(clock.now() + 7000)
  })
})

describe('a message that a handler sends', () => {
  const from = (more: Partial<HandlerIdentity> = {}): HandlerIdentity => ({
    messageId: '0198c0de-0000-7000-8000-000000000001',
    handler: 'bill',
    sent: new Map(),
    ...more,
  })

  it('has the same id in every run of the handler, whatever else it sent before', async () => {
    const { inbox, rows } = bench()
    const send = async (ids: readonly string[], context: HandlerIdentity) => {
      const receipts = []
      for (const id of ids) receipts.push((await inbox.accept(orderPlaced, { id }, { from: context })).id)
      return receipts
    }
    const [a, b] = await send(['a', 'b'], from())
    const [b2, a2, c] = await send(['b', 'a', 'c'], from())
    expect([a2, b2]).toEqual([a, b])
    expect(new Set([a, b, c]).size).toBe(3)
    expect(await rows()).toHaveLength(3)
  })

  it('differs by handler, by inbound message, by contract, by key and by occurrence', async () => {
    const other = defineContract<{ id: string }>({ name: 'other', version: 1 })
    const { inbox } = bench([orderPlaced, other])
    const context = from()
    const ids = [
      await inbox.accept(orderPlaced, { id: 'a' }, { from: context }),
      await inbox.accept(orderPlaced, { id: 'a' }, { from: context }),
      await inbox.accept(orderPlaced, { id: 'a' }, { from: context, sendKey: 'k' }),
      await inbox.accept(other, { id: 'a' }, { from: context }),
      await inbox.accept(orderPlaced, { id: 'a' }, { from: from({ handler: 'ship' }) }),
      await inbox.accept(
        orderPlaced,
        { id: 'a' },
        { from: from({ messageId: '0198c0de-0000-7000-8000-000000000002' }) },
      ),
    ]
    expect(new Set(ids.map(({ id }) => id)).size).toBe(6)
  })

  it('of one key with another body is an error, not a second message', async () => {
    const { inbox } = bench()
    await inbox.accept(orderPlaced, { id: 'a' }, { from: from(), sendKey: 'k' })
    const changed = inbox.accept(orderPlaced, { id: 'b' }, { from: from(), sendKey: 'k' })
    await expect(changed).rejects.toMatchObject({ code: 'IDEMPOTENCY_CONFLICT' })
  })

  it('inherits tenant, correlation and trace, and has the handled message as its cause', async () => {
    const { inbox, row } = bench()
    const context = from({ tenantId: 't', correlationId: 'c', trace: { traceparent } })
    const { id } = await inbox.accept(orderPlaced, { id: 'a' }, { from: context })
    expect((await row(id))?.message).toMatchObject({
      tenantId: 't',
      correlationId: 'c',
      causationId: context.messageId,
      trace: { traceparent },
    })
  })
})
