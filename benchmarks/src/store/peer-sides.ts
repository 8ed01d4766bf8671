import { Logger, makeWorkerUtils, run } from 'graphile-worker'
import { PgBoss } from 'pg-boss'
import type { Side } from '../harness/benchmark.ts'
import { payload } from '../harness/payloads.ts'
import type { StoreRound } from './floor-side.ts'

const task = 'order-placed'
const silent = new Logger(() => () => undefined)

/** graphile-worker with a local queue and batched completion, as its performance guide advises. */
export async function graphileSide(round: StoreRound): Promise<Side & AsyncDisposable> {
  const { databaseUrl, kind, messages, batch } = round
  const utils = await makeWorkerUtils({ connectionString: databaseUrl, logger: silent })
  await utils.migrate()
  return {
    name: `graphile-worker, ${kind}`,
    prepare: () =>
      inThousands(messages, (bodies) =>
        utils.addJobs(bodies.map((payload) => ({ identifier: task, payload }))),
      )(kind),
    async run() {
      const { promise: done, resolve } = Promise.withResolvers<undefined>()
      let handled = 0
      const runner = await run({
        connectionString: databaseUrl,
        logger: silent,
        noHandleSignals: true,
        taskList: {
          [task]: () => {
            handled += 1
            if (handled === messages) resolve(undefined)
          },
        },
        preset: {
          worker: {
            concurrentJobs: 24,
            localQueue: { size: batch },
            completeJobBatchDelay: 0,
            failJobBatchDelay: 0,
          },
        },
      })
      await done
      await runner.stop()
      return messages
    },
    async [Symbol.asyncDispose]() {
      await utils.release()
    },
  }
}

/** pg-boss, fetching and completing whole batches; the next fetch overlaps the completion of the last batch. */
export async function pgBossSide(round: StoreRound): Promise<Side & AsyncDisposable> {
  const { databaseUrl, kind, messages, batch } = round
  const boss = new PgBoss({ connectionString: databaseUrl, supervise: false, schedule: false })
  boss.on('error', () => undefined)
  await boss.start()
  await boss.createQueue(task)
  return {
    name: `pg-boss, ${kind}`,
    prepare: () =>
      inThousands(messages, (bodies) =>
        boss.insert(
          task,
          bodies.map((data) => ({ data })),
        ),
      )(kind),
    async run() {
      let handled = 0
      let completing: Promise<unknown> = Promise.resolve()
      while (handled < messages) {
        const jobs = await boss.fetch(task, { batchSize: batch })
        handled += jobs.length
        await completing
        completing = boss.complete(
          task,
          jobs.map((job) => job.id),
        )
      }
      await completing
      return handled
    },
    async [Symbol.asyncDispose]() {
      await boss.stop({ graceful: false })
    },
  }
}

function inThousands(
  messages: number,
  add: (bodies: object[]) => Promise<unknown>,
): (kind: StoreRound['kind']) => Promise<void> {
  return async (kind) => {
    for (let from = 0; from < messages; from += 1000) {
      const size = Math.min(1000, messages - from)
      await add(
        Array.from({ length: size }, (_, offset) => JSON.parse(payload(kind, from + offset)) as object),
      )
    }
  }
}
