import type { Delivery } from '@litebus/core'
import { concern, type TransportCase } from '../support/define.ts'
import { eventually } from '../support/eventually.ts'
import { expectCount, expectEqual } from '../support/expect.ts'
import { messages } from '../support/messages.ts'
import { receive } from '../support/receiver.ts'

/** Everything at once, for a while. */
export const stressCases: readonly TransportCase[] = concern('stress', [
  {
    title: 'publishers and consumers under cuts lose nothing, and every delivery has one result',
    timeoutMs: 120_000,
    async run(fixture, scope) {
      const target = await fixture.createDestination('plain')
      const accepted = new Set<string>()
      const results: string[] = []
      let delivered = 0
      const handle = (delivery: Delivery): void => {
        delivered += 1
        const turn = delivered % 7
        const settling =
          turn === 0
            ? delivery.returnToQueue({ delayMs: 5 })
            : turn === 1
              ? delivery.returnToQueue()
              : delivery.accept()
        void settling.then((result) => {
          results.push(result)
          if (turn > 1 && result === 'settled') accepted.add(delivery.message.messageId ?? '')
        })
      }
      const receivers = await Promise.all(
        [1, 2].map(() => receive(scope.use(fixture.connect()), target.source, { maxInFlight: 20, handle })),
      )
      const publishers = [1, 2].map(() => scope.use(fixture.connect()))
      const confirmed = new Set<string>()
      const over = new AbortController()
      scope.defer(() => {
        over.abort()
      })
      const publishing = publishers.map(async (transport, publisher) => {
        for (let round = 0; round < 40; round += 1) {
          const waiting = new Map(
            messages(target, `p${String(publisher)}-r${String(round)}`, 50).map((entry) => [
              entry.messageId,
              entry,
            ]),
          )
          while (waiting.size > 0 && !over.signal.aborted) {
            const batch = [...waiting.values()]
            const outcomes = await transport.publisher.publish(batch)
            batch.forEach(({ messageId }, slot) => {
              if (outcomes[slot]?.status !== 'confirmed') return
              confirmed.add(messageId)
              waiting.delete(messageId)
            })
            await new Promise((resolve) => setImmediate(resolve))
          }
        }
      })
      for (const share of [0.2, 0.5, 0.8]) {
        await eventually('messages confirmed', () => confirmed.size, {
          until: (size) => size >= 4000 * share,
        })
        await fixture.disrupt.cutConnections()
      }
      await Promise.all(publishing)
      expectEqual(confirmed.size, 4000, 'messages confirmed')
      await expectCount(fixture, target.source, 0)
      await eventually(
        'messages not accepted',
        () => [...confirmed].filter((id) => !accepted.has(id)).length,
        {
          until: (missing) => missing === 0,
        },
      )
      const reports = await Promise.all(
        receivers.map(({ subscription }) => subscription.stop({ budgetMs: 10_000 })),
      )
      expectEqual(reports, [{ unsettled: 0 }, { unsettled: 0 }], 'reports')
      await eventually('results', () => results.length, { until: (count) => count === delivered })
    },
  },
])
