import { deepStrictEqual, ok } from 'node:assert/strict'
import { aMessage, aRequest, eventually, leaseAll, only, succeeded, type StoreCase } from '../support.ts'

const concern = 'work signal'
const longMs = 20_000

/** A processor that waits is woken, and never sleeps past its time. */
export const workSignalCases: readonly StoreCase[] = [
  {
    concern,
    title: 'ends a wait at once when the signal aborts',
    async run({ inbox }) {
      await inbox.lease(aRequest())
      await inbox.waitForWork(AbortSignal.abort(), longMs)
      const controller = new AbortController()
      const waiting = inbox.waitForWork(controller.signal, longMs)
      controller.abort()
      await waiting
    },
  },
  {
    concern,
    title: 'finds what another process wrote long before the poll interval has passed',
    async run(fixture) {
      const writer = (await fixture.another()).inbox
      const { inbox } = fixture
      const controller = new AbortController()
      let polls = 0
      const worker = (async (): Promise<string> => {
        for (;;) {
          const { envelopes } = await inbox.lease(aRequest())
          if (envelopes.length > 0) {
            await inbox.settle(succeeded(envelopes))
            return only(envelopes).message.id
          }
          polls += 1
          await inbox.waitForWork(controller.signal, longMs)
        }
      })()
      // Long enough for the worker to sleep for good; each look of an idle worker is one poll.
      for (let quiet = 0, seen = -1; quiet < 12 && polls < 1000; quiet = seen === polls ? quiet + 1 : 0) {
        seen = polls
        await fixture.pass(50)
      }
      const before = polls
      const message = aMessage()
      const [found] = await Promise.all([worker, writer.append([message])])
      deepStrictEqual(found, message.id)
      ok(polls - before < 20)
    },
  },
  {
    concern,
    title: 'does not lose work that came between the look and the wait',
    async run(fixture) {
      const { inbox } = fixture
      deepStrictEqual((await inbox.lease(aRequest())).envelopes, [])
      await inbox.append([aMessage()])
      await inbox.waitForWork(new AbortController().signal, longMs)
      await eventually(fixture, 'the message is leased', async () => (await leaseAll(inbox)).length === 1)
    },
  },
]
