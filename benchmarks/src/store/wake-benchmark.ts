import { once } from 'node:events'
import { defineContract, defineHandler } from '@litebus/core'
import { createInbox, createInboxProcessor } from '@litebus/inbox'
import { postgresStorage } from '@litebus/storage-postgres'
import pg from 'pg'
import type { Benchmark, Side } from '../harness/benchmark.ts'
import type { compare } from '../harness/compare.ts'

const samples = 100
const contract = defineContract<{ readonly n: number }>({ name: 'ping', version: 1 })

/** Commit to handler on an idle system, against a bare NOTIFY from one session to another. */
export const wakeBenchmark: Benchmark = {
  summary: 'bare NOTIFY round trip / commit to handler on an idle system',
  bar: 1 / 3,
  async run(context) {
    const connectionString = await context.createDatabase()
    await using resources = new AsyncDisposableStack()
    const listener = new pg.Client({ connectionString })
    const notifier = new pg.Client({ connectionString })
    for (const client of [listener, notifier]) {
      await client.connect()
      resources.defer(() => client.end())
    }
    await listener.query('listen bare')
    const storage = resources.use(postgresStorage({ connection: connectionString }))
    await storage.schema.migrate()
    const inbox = createInbox({ store: storage.inbox, contracts: [contract] })
    let wake: (() => void) | undefined
    const processor = createInboxProcessor({
      store: storage.inbox,
      handlers: [defineHandler({ contract, handle: () => wake?.() })],
      pollMs: 60_000,
    })
    processor.start()
    resources.defer(async () => {
      await processor.stop()
    })
    const product: Side = {
      name: 'commit to handler',
      prepare: () => Promise.resolve(),
      run: () =>
        medianRate(async () => {
          const handled = new Promise<void>((resolve) => (wake = resolve))
          await inbox.accept(contract, { n: 1 })
          const committedAt = performance.now()
          await handled
          return performance.now() - committedAt
        }),
    }
    const floor: Side = {
      name: 'bare NOTIFY',
      prepare: () => Promise.resolve(),
      run: () =>
        medianRate(async () => {
          const heard = once(listener, 'notification')
          const notifiedAt = performance.now()
          await notifier.query('notify bare')
          await heard
          return performance.now() - notifiedAt
        }),
    }
    const result = await compareTimes(product, floor, context)
    return { ...result, unit: 'ms (median)', runs: context.rounds }
  },
}

let lastMedian = 0

/** Takes the samples with idle time between them and keeps their median. */
async function medianRate(sample: () => Promise<number>): Promise<number> {
  const times: number[] = []
  for (let index = 0; index < samples; index++) {
    // An idle system is what is measured: everything that the last message started has come to rest.
    await new Promise((resolve) => setTimeout(resolve, 30 + (index % 20) * 10))
    times.push(await sample())
  }
  lastMedian = times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN
  return samples
}

async function compareTimes(
  product: Side,
  floor: Side,
  { rounds, say }: Parameters<typeof compare>[2],
): Promise<{ ratio: number; product: number; floor: number; details: Record<string, unknown> }> {
  const times: { readonly product: number; readonly floor: number }[] = []
  for (let round = 1; round <= rounds; round++) {
    await floor.run()
    const bare = lastMedian
    await product.run()
    times.push({ product: lastMedian, floor: bare })
    say(`round ${String(round)}  bare ${bare.toFixed(3)} ms, commit to handler ${lastMedian.toFixed(3)} ms`)
  }
  const middle = times.toSorted((a, b) => a.floor / a.product - b.floor / b.product)[
    Math.floor(times.length / 2)
  ]
  if (middle === undefined) throw new Error('expected at least one round')
  return { ratio: middle.floor / middle.product, ...middle, details: { times } }
}
