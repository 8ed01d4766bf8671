import { deepStrictEqual, ok } from 'node:assert/strict'
import { uuidV7 } from '@litebus/core'
import { aMessage, aRequest, at, leaseAll, messages, only, rejects, type StoreCase } from '../support.ts'

const concern = 'append'

/** What is written comes back unchanged, or nothing is written. */
export const appendCases: readonly StoreCase[] = [
  {
    concern,
    title: 'gives back bytes exactly as they were written',
    async run({ inbox }) {
      const bodies = [
        new Uint8Array(),
        Uint8Array.from({ length: 256 }, (_, index) => index),
        Buffer.from('{"name":"Žluťoučký kůň 🐎","replacement":"\uFFFD"}'),
        Buffer.from(`"${'é'.repeat(60_000)}"`),
      ]
      await inbox.append(bodies.map((body) => aMessage({ body })))
      const leased = await leaseAll(inbox)
      const found = leased.map(({ message }) => Buffer.from(message.body).toString('hex')).sort()
      deepStrictEqual(found, bodies.map((body) => Buffer.from(body).toString('hex')).sort())
      for (const { text, body } of leased.map(({ message }) => message)) {
        if (text !== undefined) deepStrictEqual(Buffer.from(text), Buffer.from(body))
      }
    },
  },
  {
    concern,
    title: 'gives back every field of the metadata',
    async run({ inbox }) {
      const message = aMessage({
        contractVersion: 7,
        tenantId: 'acme',
        topic: 'orders',
        orderingKey: 'order-1',
        correlationId: 'c',
        causationId: 'd',
        sourceId: 's',
        trace: { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01', tracestate: 'a=b' },
        headers: { plain: 'value', odd: 'NUL \0 and \uD800 and "quotes"' },
        idempotency: { key: 'key-1' },
      })
      await inbox.append([message])
      const { message: found } = only(await leaseAll(inbox))
      const { idempotency, body, ...rest } = message
      const { createdAt, text, ...stored } = found
      deepStrictEqual(
        { ...stored, body: Buffer.from(stored.body).toString() },
        { ...rest, idempotencyKey: idempotency?.key, body: Buffer.from(body).toString() },
      )
      ok(createdAt instanceof Date)
      ok(text === undefined || text === Buffer.from(body).toString())
    },
  },
  {
    concern,
    title: 'answers the receipt of each slot in order',
    async run({ outbox }) {
      const trace = { traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' }
      const batch = messages(3, (index) => ({
        contractVersion: index + 1,
        tenantId: `t${String(index)}`,
        trace,
      }))
      const results = await outbox.append(batch)
      deepStrictEqual(
        results.map(({ status, receipt: { createdAt, ...receipt } }) => ({
          status,
          ...receipt,
          at: typeof createdAt,
        })),
        batch.map(({ id, contractName, contractVersion, tenantId }) => ({
          status: 'inserted',
          id,
          contractName,
          contractVersion,
          tenantId,
          trace,
          at: 'object',
        })),
      )
    },
  },
  {
    concern,
    title: 'writes a batch of 10 000 messages',
    timeoutMs: 60_000,
    async run({ outbox }) {
      const results = await outbox.append(messages(10_000))
      deepStrictEqual(results.length, 10_000)
      ok(results.every((result) => result.status === 'inserted'))
      deepStrictEqual((await outbox.statusCounts()).awaiting, 10_000)
    },
  },
  {
    concern,
    title: 'is not changed by what the caller does to the bytes afterwards',
    async run({ inbox }) {
      const body = Buffer.from('before')
      const writing = inbox.append([aMessage({ body })])
      await writing
      body.fill(0)
      deepStrictEqual(Buffer.from(only(await leaseAll(inbox)).message.body).toString(), 'before')
    },
  },
  {
    concern,
    title: 'refuses what it could not give back, and writes nothing of that batch',
    async run({ inbox }) {
      const wrong = [
        { tenantId: 'a\0b' },
        { orderingKey: 'a\uD800' },
        { idempotency: { key: 'k'.repeat(513) } },
        { orderingKey: '' },
        { contractVersion: 0 },
        { contractName: 'n\0' },
        { id: 'not-a-uuid' },
        { visibility: { afterMs: Number.NaN } },
        { visibility: { at: new Date(Number.NaN) } },
      ]
      for (const over of wrong) {
        await rejects(inbox.append([aMessage(), aMessage(over)]), 'INBOX_STORAGE_REFUSED')
      }
      deepStrictEqual(await leaseAll(inbox), [])
    },
  },
  {
    concern,
    title: 'keeps inbox and outbox apart',
    async run({ inbox, outbox }) {
      const message = aMessage({ idempotency: { key: 'k' } })
      await inbox.append([message])
      const [result] = await outbox.append([{ ...message, body: Buffer.from('other') }])
      deepStrictEqual(result?.status, 'inserted')
      deepStrictEqual((await leaseAll(inbox)).length, 1)
      deepStrictEqual((await leaseAll(outbox)).length, 1)
    },
  },
  {
    concern,
    title: 'makes a delayed message due after its delay, by the clock of the store',
    async run(fixture) {
      const { inbox } = fixture
      await inbox.append([aMessage({ visibility: { afterMs: 1500 } })])
      const early = await inbox.lease(aRequest())
      deepStrictEqual(early.envelopes, [])
      ok((early.nextDueInMs ?? 1) > 0)
      await fixture.pass(1550)
      only(await leaseAll(inbox))
    },
  },
  {
    concern,
    title: 'makes a message due at its time, at once when that has passed',
    async run({ inbox }) {
      const past = aMessage({ visibility: { at: new Date(0) } })
      await inbox.append([past, aMessage({ visibility: { at: new Date(Date.now() + 86_400_000) } })])
      deepStrictEqual(only(await leaseAll(inbox)).message.id, past.id)
    },
  },
  {
    concern,
    title: 'finds a message that is written again although its id was new',
    async run({ inbox }) {
      const message = aMessage({ idIsNew: true })
      const [first, again] = [await inbox.append([message]), await inbox.append([message])]
      deepStrictEqual([at(first, 0).status, at(again, 0).status], ['inserted', 'existing'])
      const found = only(await leaseAll(inbox)).message
      ok(!('idIsNew' in found))
    },
  },
  {
    concern,
    title: 'answers nothing for an empty batch',
    async run({ inbox }) {
      deepStrictEqual(await inbox.append([]), [])
      await inbox.append([aMessage({ id: uuidV7() })])
      deepStrictEqual(at(await leaseAll(inbox), 0).attempt, 1)
    },
  },
]
