import { deepStrictEqual, ok } from 'node:assert/strict'
import { IdempotencyConflictError, uuidV5, uuidV7 } from '@litebus/core'
import { aMessage, at, leaseAll, only, rejects, succeeded, type StoreCase } from '../support.ts'

const concern = 'dedup'
const namespace = uuidV7()

/** One logical write is one message; anything that would map one message onto another is an error. */
export const dedupCases: readonly StoreCase[] = [
  {
    concern,
    title: 'answers the first receipt for the same id and body',
    async run({ inbox }) {
      const message = aMessage({ tenantId: 'acme' })
      const first = only(await inbox.append([message]))
      const second = only(await inbox.append([message]))
      deepStrictEqual(second, { status: 'existing', receipt: first.receipt })
      only(await leaseAll(inbox))
    },
  },
  {
    concern,
    title: 'refuses the id of another body',
    async run({ inbox }) {
      const message = aMessage()
      await inbox.append([message])
      await rejects(inbox.append([{ ...message, body: Buffer.from('other') }]), 'IDEMPOTENCY_CONFLICT')
      only(await leaseAll(inbox))
    },
  },
  {
    concern,
    title: 'refuses the id of a message of another tenant',
    async run({ inbox }) {
      const message = aMessage({ tenantId: 'a' })
      await inbox.append([message])
      await rejects(inbox.append([{ ...message, tenantId: 'b' }]), 'IDEMPOTENCY_CONFLICT')
    },
  },
  {
    concern,
    title: 'answers the stored receipt for a taken key, whatever the new body',
    async run({ inbox }) {
      const first = only(await inbox.append([aMessage({ idempotency: { key: 'k' } })]))
      const again = aMessage({ idempotency: { key: 'k' }, body: Buffer.from('other') })
      deepStrictEqual(only(await inbox.append([again])), { status: 'existing', receipt: first.receipt })
      only(await leaseAll(inbox))
    },
  },
  {
    concern,
    title: 'refuses any taken key under strict and names the slot',
    async run({ inbox }) {
      await inbox.append([aMessage({ idempotency: { key: 'k' } })])
      const slot = aMessage({ idempotency: { key: 'k', mode: 'strict' } })
      const error = await rejects(inbox.append([aMessage(), slot]), 'IDEMPOTENCY_CONFLICT')
      ok(error instanceof IdempotencyConflictError)
      deepStrictEqual(error.slots, [{ index: 1, id: slot.id, on: 'key' }])
      only(await leaseAll(inbox))
    },
  },
  {
    concern,
    title: 'refuses an id and a key that point at different messages',
    async run({ inbox }) {
      const byId = aMessage()
      await inbox.append([byId, aMessage({ idempotency: { key: 'k' } })])
      await rejects(inbox.append([{ ...byId, idempotency: { key: 'k' } }]), 'IDEMPOTENCY_CONFLICT')
    },
  },
  {
    concern,
    title: 'refuses a known id under a new key, which it could not remember',
    async run({ inbox }) {
      const message = aMessage({ idempotency: { key: 'k1' } })
      await inbox.append([message])
      await rejects(inbox.append([{ ...message, idempotency: { key: 'k2' } }]), 'IDEMPOTENCY_CONFLICT')
    },
  },
  {
    concern,
    title: 'scopes keys to their tenant, a blank tenant being the unscoped partition',
    async run({ inbox }) {
      const idempotency = { key: 'k' }
      const results = [
        ...(await inbox.append([aMessage({ idempotency, tenantId: 'a' })])),
        ...(await inbox.append([aMessage({ idempotency, tenantId: 'b' })])),
        ...(await inbox.append([aMessage({ idempotency })])),
        ...(await inbox.append([aMessage({ idempotency, tenantId: '' })])),
      ]
      deepStrictEqual(
        results.map((result) => result.status),
        ['inserted', 'inserted', 'inserted', 'existing'],
      )
    },
  },
  {
    concern,
    title: 'deduplicates derived ids',
    async run({ inbox }) {
      const message = aMessage({ id: uuidV5(namespace, 'a') })
      deepStrictEqual(only(await inbox.append([message])).status, 'inserted')
      deepStrictEqual(only(await inbox.append([message])).status, 'existing')
    },
  },
  {
    concern,
    title: 'still knows what has succeeded, also after its payload is gone',
    async run({ inbox }) {
      const message = aMessage({ idempotency: { key: 'k' } })
      const first = only(await inbox.append([message]))
      await inbox.settle(succeeded(await leaseAll(inbox)))
      deepStrictEqual(only(await inbox.append([message])), { status: 'existing', receipt: first.receipt })
      await inbox.runRetention({ retentionMs: 0 })
      deepStrictEqual(only(await inbox.append([message])), { status: 'existing', receipt: first.receipt })
      await rejects(inbox.append([{ ...message, body: Buffer.from('other') }]), 'IDEMPOTENCY_CONFLICT')
    },
  },
  {
    concern,
    title: 'takes two slots of one batch with one key as one message',
    async run({ inbox }) {
      const batch = ['a', 'b', 'a', 'a'].map((key) => aMessage({ idempotency: { key } }))
      const results = await inbox.append(batch)
      deepStrictEqual(
        results.map(({ status, receipt }) => [status, receipt.id]),
        [
          ['inserted', at(batch, 0).id],
          ['inserted', at(batch, 1).id],
          ['existing', at(batch, 0).id],
          ['existing', at(batch, 0).id],
        ],
      )
    },
  },
  {
    concern,
    title: 'writes nothing of a batch whose slots conflict among themselves',
    async run({ inbox }) {
      const message = aMessage()
      const batch = [aMessage(), message, { ...message, body: Buffer.from('other') }]
      await rejects(inbox.append(batch), 'IDEMPOTENCY_CONFLICT')
      deepStrictEqual(await leaseAll(inbox), [])
      deepStrictEqual(await inbox.get(message.id), undefined)
    },
  },
  {
    concern,
    title: 'gives each slot of a batch its own outcome',
    async run({ inbox }) {
      const known = aMessage({ idempotency: { key: 'known' } })
      await inbox.append([known])
      // The second slot meets a stored message by its key, so its id stays free for the third.
      const second = aMessage({ idempotency: { key: 'known' } })
      const results = await inbox.append([known, second, { ...aMessage(), id: second.id }, aMessage()])
      deepStrictEqual(
        results.map(({ status, receipt }) => [status, receipt.id === known.id]),
        [
          ['existing', true],
          ['existing', true],
          ['inserted', false],
          ['inserted', false],
        ],
      )
    },
  },
]
