import { expect, it } from '@jest/globals'
import { expectTerminals } from '../consumer/expect-terminals.ts'
import { openConsumer } from '../consumer/open-consumer.ts'
import { startWorker } from '../processes/worker-process.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import { openSource } from '../transports/open-source.ts'
import { testedTransports } from '../transports/tested-transports.ts'
import { dedupTimes, ship, type DedupSettings, type DedupStep } from '../workers/dedup-settings.ts'
import { workerEnvironment } from '../workers/worker-settings.ts'

/** Runs of the next process, and what is there in the end: a plain handler alone may have worked in vain. */
const deaths: readonly {
  readonly step: DedupStep
  readonly transactional: boolean
  readonly runs: number
  readonly effects: number
}[] = [
  { step: 'after the claim, before the handler', transactional: true, runs: 1, effects: 1 },
  { step: 'after the work of the handler, before its completion', transactional: true, runs: 1, effects: 1 },
  { step: 'after the completion, before the accept', transactional: true, runs: 0, effects: 1 },
  { step: 'after the claim, before the handler', transactional: false, runs: 1, effects: 1 },
  { step: 'after the work of the handler, before its completion', transactional: false, runs: 1, effects: 2 },
  { step: 'after the completion, before the accept', transactional: false, runs: 0, effects: 1 },
]

await describeTransports(
  'a consumer that deduplicates and dies by SIGKILL',
  ({ address, withPath }) => {
    it.each(deaths)(
      '$step (transactional: $transactional) leaves $runs run to the next, and $effects effect in all',
      ({ step, transactional, runs, effects }) =>
        withPath(async (path) => {
          await path.pool.query('create table shipped (id text not null)')
          const { target, order } = await openSource(path)
          const dead = await path.fixture.createDestination('plain')
          const settings: DedupSettings = {
            address: address(),
            source: target.source,
            dead: dead.destination,
            databaseUrl: path.databaseUrl,
            transactional,
            step,
          }
          const worker = path.scope.use(await startWorker('dedup-worker', workerEnvironment(settings)))
          // It must have said that it is ready before it dies.
          await order('a')
          expect(await worker.ended).toBe('SIGKILL')
          let handled = 0
          const { executionBudgetMs, leaseMs } = dedupTimes
          const next = await openConsumer(path, {
            source: target,
            executionBudgetMs,
            dedup: { store: path.storage.dedup, leaseMs },
            transactional,
            async handle({ id }, { transaction }) {
              handled += 1
              await ship(id, transaction ?? path.pool)
            },
          })
          await next.consumer.start()
          await expectTerminals(path, next, { deliveries: 1, acked: 1 })
          expect(handled).toBe(runs)
          expect((await path.pool.query('select id from shipped')).rows).toEqual(
            Array.from({ length: effects }, () => ({ id: 'a' })),
          )
          expect(await path.fixture.count(next.dead.source)).toBe(0)
        }),
    )
  },
  testedTransports.filter(({ remote }) => remote),
)
