import { expect, it } from '@jest/globals'
import { reject } from '@litebus/core'
import { openConsumer } from '../consumer/open-consumer.ts'
import { startWorker } from '../processes/worker-process.ts'
import { eventually } from '../services/index.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import { openSource } from '../transports/open-source.ts'
import { readAll } from '../transports/read-all.ts'
import { testedTransports } from '../transports/tested-transports.ts'
import { handoffEnvironment, type HandoffStep } from '../workers/handoff-settings.ts'

/** Copies that may exist in the end: two only where the confirm was, or may have been, before the death. */
const steps: readonly { readonly step: HandoffStep; readonly copies: readonly number[] }[] = [
  { step: 'before the publish', copies: [1] },
  { step: 'after the publish, before its confirm', copies: [1, 2] },
  { step: 'after the confirm, before the accept', copies: [2] },
  { step: 'after the accept', copies: [1] },
]

await describeTransports(
  'a process that dies by SIGKILL in a handoff',
  ({ address, withPath }) => {
    it.each(steps)('$step leaves $copies copies, and the original no more', ({ step, copies }) =>
      withPath(async (path) => {
        const { target, order } = await openSource(path)
        const dead = await path.fixture.createDestination('plain')
        await order('a')
        const settings = { address: address(), source: target.source, dead: dead.destination, step }
        const worker = path.scope.use(await startWorker('handoff-worker', handoffEnvironment(settings)))
        expect(await worker.ended).toBe('SIGKILL')
        const next = await openConsumer(path, {
          source: target,
          handle: () => reject({ code: 'NO' }),
          retry: { deadLetterDestination: dead.destination },
        })
        await next.consumer.start()
        await eventually(
          async () => {
            expect(next.consumer.counts().inFlight).toBe(0)
            expect(await path.fixture.count(target.source)).toBe(0)
            expect(await path.fixture.count(dead.source)).toBeGreaterThan(0)
          },
          { expectation: 'the original to be parked' },
        )
        await next.consumer.stop({ budgetMs: 5000 })
        const parked = await readAll(path, dead, Math.min(...copies))
        // All of them: one that came later than the ones that were waited for counts as well.
        expect(copies).toContain(parked.length + (await path.fixture.count(dead.source)))
        expect(new Set(parked.map(({ body }) => Buffer.from(body).toString())).size).toBe(1)
      }),
    )
  },
  testedTransports.filter(({ remote }) => remote),
)
