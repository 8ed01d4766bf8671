import { describe, expect, it } from '@jest/globals'
import type { WriteItem } from '@litebus/core'
import { bench, orderPlaced } from './arrange.ts'

const order = { id: '1' }
const text = (value: string): Uint8Array => new TextEncoder().encode(value)

describe('the options of a write', () => {
  it.each([
    ['a transaction that is not there', { transaction: undefined }, 'expected transaction to have a value'],
    ['a key that is not there', { orderingKey: undefined }, 'expected orderingKey to have a value'],
    ['a misspelt transaction', { transation: {} }, 'expected no write option transation'],
    ['a transaction in place of the options', { isOpen: true }, 'expected no write option isOpen'],
  ])('refuse %s, and nothing is written', async (_what, options, fault) => {
    const { inbox, rows } = bench()
    const refused = { code: 'OPTIONS_INVALID', faults: [expect.stringContaining(fault)] }
    await expect(inbox.accept(orderPlaced, order, options as never)).rejects.toMatchObject(refused)
    const item = { contract: orderPlaced, message: order }
    await expect(inbox.acceptBatch([item], options as never)).rejects.toMatchObject({
      code: 'OPTIONS_INVALID',
    })
    const slot = { ...item, options } as unknown as WriteItem
    await expect(inbox.acceptBatch([slot])).rejects.toMatchObject({ code: 'OPTIONS_INVALID' })
    expect(await rows()).toEqual([])
  })

  it('may be left out altogether', async () => {
    const { inbox } = bench()
    expect((await inbox.accept(orderPlaced, order, undefined)).outcome).toBe('accepted')
    expect(await inbox.acceptBatch([{ contract: orderPlaced, message: order }], undefined)).toHaveLength(1)
  })
})

describe('received bytes', () => {
  it.each([
    ['are not UTF-8', Uint8Array.from([0x7b, 0x22, 0xff, 0x22, 0x7d])],
    ['are not JSON', text('{"id":')],
    ['are empty', new Uint8Array()],
    ['are refused by the schema', text('{"id":1}')],
  ])('that %s are refused before they are written', async (_what, body) => {
    const { inbox, rows } = bench()
    await expect(inbox.accept(orderPlaced, order, { body })).rejects.toMatchObject({
      code: 'PAYLOAD_INVALID',
    })
    expect(await rows()).toEqual([])
  })

  it('that are no bytes are refused', async () => {
    const { inbox } = bench()
    await expect(inbox.accept(orderPlaced, order, { body: '{}' as never })).rejects.toMatchObject({
      code: 'ARGUMENT_INVALID',
    })
  })

  it('that can be read are stored as they are', async () => {
    const { inbox, storage } = bench()
    const body = text(' { "id" : "\\u0031" }\n')
    await inbox.accept(orderPlaced, order, { body })
    const { envelopes } = await storage.inbox.lease({ owner: 'w', limit: 1, leaseMs: 1000, maxAttempts: 1 })
    expect(Buffer.from(envelopes[0]?.message.body ?? []).equals(body)).toBe(true)
  })

  it('that the caller has validated are not validated again', async () => {
    const { inbox } = bench()
    const receipt = await inbox.accept(orderPlaced, order, { body: text('?'), bodyIsValidated: true })
    expect(receipt.outcome).toBe('accepted')
  })
})
