import { expect, it } from '@jest/globals'
import { reject, retry } from '@litebus/core'
import { openConsumer } from '../consumer/open-consumer.ts'
import { startWorker } from '../processes/worker-process.ts'
import { eventually } from '../services/index.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import { openSource } from '../transports/open-source.ts'
import { readAll } from '../transports/read-all.ts'
import { testedTransports } from '../transports/tested-transports.ts'
import { retryByCopy, type HandoffSettings, type HandoffStep } from '../workers/handoff-settings.ts'
import { workerEnvironment } from '../workers/worker-settings.ts'

/**
 * Copies that may exist in the end: two only where the confirm was, or may have been, before the death. The next
 * process makes one of them wherever the original was not accepted.
 */
const steps: readonly {
  readonly step: HandoffStep
  readonly copies: readonly number[]
  readonly madeNext: number
}[] = [
  { step: 'before the publish', copies: [1], madeNext: 1 },
  { step: 'after the publish, before its confirm', copies: [1, 2], madeNext: 1 },
  { step: 'after the confirm, before the accept', copies: [2], madeNext: 1 },
  { step: 'after the accept', copies: [1], madeNext: 0 },
]
const hops = [
  { hop: 'deadLetter', terminal: 'acked_dead_letter' },
  { hop: 'retry', terminal: 'acked_retry' },
] as const

await describeTransports(
  'a process that dies by SIGKILL in a handoff',
  ({ address, profile, withPath }) => {
    const { delayedDelivery, maxDelayMs } = profile.kinds.plain
    it.each(hops.flatMap((hop) => steps.map((step) => ({ ...hop, ...step }))))(
      'by a $hop copy, $step, leaves $copies copies, and the original no more',
      ({ hop, terminal, step, copies, madeNext }) =>
        withPath(async (path) => {
          const { target, order } = await openSource(path)
          const dead = await path.fixture.createDestination('plain')
          const again = await path.fixture.createDestination('plain')
          const place = hop === 'retry' ? again : dead
          const settings: HandoffSettings = {
            address: address(),
            source: target.source,
            hop,
            dead: dead.destination,
            again: again.destination,
            delays: delayedDelivery ? [maxDelayMs] : [],
            step,
          }
          const worker = path.scope.use(await startWorker('handoff-worker', workerEnvironment(settings)))
          // It must have said that it is ready before it dies.
          await order('a')
          expect(await worker.ended).toBe('SIGKILL')
          const next = await openConsumer(path, {
            source: target,
            handle: () => (hop === 'retry' ? retry({ code: 'LATER' }) : reject({ code: 'NO' })),
            retry: retryByCopy(settings),
          })
          await next.consumer.start()
          await eventually(
            async () => {
              expect(next.consumer.counts()).toMatchObject({ [terminal]: madeNext, inFlight: 0 })
              expect(await path.fixture.count(target.source)).toBe(0)
              expect(await path.fixture.count(place.source)).toBeGreaterThan(0)
            },
            { expectation: 'the original to be handed over' },
          )
          await next.consumer.stop({ budgetMs: 5000 })
          expect(next.consumer.counts()).toMatchObject({ [terminal]: madeNext, deliveries: madeNext })
          const found = await readAll(path, place, Math.min(...copies))
          // All of them: one that came later than the ones that were waited for counts as well.
          expect(copies).toContain(found.length + (await path.fixture.count(place.source)))
          expect(new Set(found.map(({ body }) => Buffer.from(body).toString())).size).toBe(1)
        }),
    )
  },
  testedTransports.filter(({ remote }) => remote),
)
