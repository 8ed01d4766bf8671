import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { postgresStorage } from '@litebus/storage-postgres'
import type { Benchmark } from '../harness/benchmark.ts'
import { fill } from './product-side.ts'

/** What a process may use at most. */
const limitBytes = 200 * 1024 * 1024

/**
 * V8 lets short-lived garbage pile up by the memory of the machine, to 128 MB on one of 24 GiB, whatever a program
 * holds. The process gets what is usual in small containers: up to 2 GiB, Node takes less than 16 MiB by itself.
 */
const semiSpaceMiB = 8

/** Peak resident memory of a process that handles a million small messages. */
export const memoryBenchmark: Benchmark = {
  summary: '200 MB / peak RSS over a million small messages',
  bar: 1,
  async run(context) {
    const messages = Number(context.options['messages'] ?? 1_000_000)
    const databaseUrl = await context.createDatabase()
    const storage = postgresStorage({ connection: databaseUrl, schema: 'product' })
    await storage.schema.migrate()
    context.say(`filling ${String(messages)} messages`)
    await fill(storage, { kind: 'small', messages })
    await storage.close()
    const child = fork(fileURLToPath(new URL('memory-worker.ts', import.meta.url)), [String(messages)], {
      env: { ...process.env, DATABASE_URL: databaseUrl },
      execArgv: ['--conditions=@litebus/source', `--max-semi-space-size=${String(semiSpaceMiB)}`],
    })
    const [peak] = (await once(child, 'message')) as [number]
    await once(child, 'exit')
    return {
      ratio: limitBytes / peak,
      product: peak / 1024 / 1024,
      floor: limitBytes / 1024 / 1024,
      unit: 'MiB peak RSS',
      runs: 1,
      details: { messages, semiSpaceMiB },
    }
  },
}
