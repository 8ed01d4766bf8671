import { deepStrictEqual, ok, rejects } from 'node:assert/strict'
import { aMessage, aRequest, leaseAll, leaseSoon, only, type StoreCase } from '../support.ts'

const concern = 'completion in a transaction'
const needs = {
  capability: 'callersTransactions',
  met: (capabilities: { readonly callersTransactions: boolean }): boolean => capabilities.callersTransactions,
}

/** Handler and completion commit together or not at all. */
export const completionCases: readonly StoreCase[] = [
  {
    concern,
    needs,
    title: 'commits what the work wrote together with the completion',
    async run({ inbox, outbox }) {
      await inbox.append([aMessage()])
      const { lease } = only(await leaseAll(inbox))
      const sent = aMessage()
      const result = await inbox.completeInTransaction(lease, async (transaction) => {
        await outbox.append([sent], { transaction })
        deepStrictEqual(await outbox.get(sent.id), undefined)
      })
      deepStrictEqual(result, 'applied')
      deepStrictEqual((await inbox.get(lease.id))?.state, 'succeeded')
      deepStrictEqual(only(await leaseAll(outbox)).message.id, sent.id)
      deepStrictEqual(await inbox.settle([{ kind: 'succeeded', lease }]), ['leaseLost'])
    },
  },
  {
    concern,
    needs,
    title: 'takes everything back when the work throws, and rethrows what it threw',
    async run({ inbox, outbox }) {
      await inbox.append([aMessage()])
      const { lease } = only(await leaseAll(inbox))
      const fault = new Error('handler')
      const outcome = inbox.completeInTransaction(lease, async (transaction) => {
        await outbox.append([aMessage()], { transaction })
        throw fault
      })
      ok(
        await outcome.then(
          () => false,
          (error: unknown) => error === fault,
        ),
      )
      deepStrictEqual(await leaseAll(outbox), [])
      deepStrictEqual(await inbox.settle([{ kind: 'succeeded', lease }]), ['applied'])
    },
  },
  {
    concern,
    needs,
    title: 'takes everything back when the lease was lost meanwhile',
    async run(fixture) {
      const { inbox, outbox } = fixture
      await inbox.append([aMessage()])
      const { lease } = only((await inbox.lease(aRequest({ leaseMs: 60 }))).envelopes)
      const other = (await fixture.another()).inbox
      const result = await inbox.completeInTransaction(lease, async (transaction) => {
        await outbox.append([aMessage()], { transaction })
        only((await leaseSoon(fixture, other, { owner: 'worker-2' })).envelopes)
      })
      deepStrictEqual(result, 'leaseLost')
      deepStrictEqual(await leaseAll(outbox), [])
      deepStrictEqual((await inbox.get(lease.id))?.state, 'leased')
    },
  },
  {
    concern,
    needs,
    title: 'takes everything back when the work is given up, and waits for it no longer',
    async run({ inbox, outbox }) {
      await inbox.append([aMessage()])
      const { lease } = only(await leaseAll(inbox))
      const sent = aMessage()
      const givenUp = new AbortController()
      const { promise: endless } = Promise.withResolvers<undefined>()
      const outcome = inbox.completeInTransaction(
        lease,
        async (transaction) => {
          await outbox.append([sent], { transaction })
          givenUp.abort()
          await endless
        },
        { signal: givenUp.signal },
      )
      await rejects(outcome)
      deepStrictEqual(await inbox.settle([{ kind: 'succeeded', lease }]), ['applied'])
      deepStrictEqual(await leaseAll(outbox), [])
      deepStrictEqual((await outbox.append([sent]))[0]?.status, 'inserted')
    },
  },
]
