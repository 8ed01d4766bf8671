import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startWorker, type WorkerProcess } from '../processes/worker-process.ts'
import { brokersOf, committedOffsets, eventually, withKafkaAdmin } from '../services/index.ts'
import { workerEnvironment } from '../workers/worker-settings.ts'
import type { ConsumerSettings } from './consumer-settings.ts'

/** Consumers of one group in processes of their own, and the books of what they handled. */
export interface ConsumerCrowd extends AsyncDisposable {
  /** How many run. */
  readonly size: number
  /** Starts another one. */
  join(): Promise<void>
  /** Ends one as a crash does. */
  kill(index: number): Promise<void>
  /** Asks one to stop, and waits until it has. */
  leave(index: number): Promise<void>
  /** How often each record was handled, by delivery id. */
  handled(): Promise<ReadonlyMap<string, number>>
  /**
   * Looks whether what the group has committed passes a record that nobody has handled: consumers write down what they
   * handle before they accept it. Answers how many records are committed.
   */
  check(): Promise<number>
  /** Waits until so many more records are handled. */
  progress(records: number): Promise<void>
}

/** Which topic they consume. */
export interface CrowdSettings {
  readonly url: string
  readonly topic: string
  readonly group: string
  readonly inFlight: number
}

/** Starts without a consumer. */
export async function createConsumerCrowd(settings: CrowdSettings): Promise<ConsumerCrowd> {
  const { url, topic, group, inFlight } = settings
  const folder = await mkdtemp(join(tmpdir(), 'litebus-consumers-'))
  const journal = join(folder, 'handled')
  await writeFile(journal, '')
  const workers: WorkerProcess[] = []
  const told: ConsumerSettings = { brokers: brokersOf(url).join(','), topic, group, journal, inFlight }
  const environment = workerEnvironment(told)

  const handled = async (): Promise<ReadonlyMap<string, number>> => {
    const times = new Map<string, number>()
    // The last line may be half of one: it is complete when the next look comes.
    for (const line of (await readFile(journal, 'utf8')).split('\n').slice(0, -1))
      times.set(line, (times.get(line) ?? 0) + 1)
    return times
  }
  const take = (index: number): WorkerProcess => {
    const [worker] = workers.splice(index % workers.length, 1)
    if (worker === undefined) throw new Error('expected a consumer that runs, found none')
    return worker
  }

  return {
    get size() {
      return workers.length
    },
    async join() {
      workers.push(await startWorker('kafka-consumer', environment))
    },
    kill: (index) => take(index).kill(),
    async leave(index) {
      const worker = take(index)
      worker.terminate()
      const code = await worker.ended
      if (code !== 0) throw new Error(`expected a consumer to stop in order, it ended with ${String(code)}`)
    },
    handled,
    async check() {
      const committed = await withKafkaAdmin(url, (admin) => committedOffsets(admin, { group, topic }))
      const times = await handled()
      let sum = 0
      for (const [partition, offset] of committed) {
        for (let before = 0; before < offset; before += 1) {
          const id = `${topic}-${String(partition)}-${String(before)}`
          if (!times.has(id))
            throw new Error(
              `expected no commit past a record that nobody handled, found ${String(offset)} past ${id}`,
            )
        }
        sum += offset
      }
      return sum
    },
    async progress(records) {
      const before = (await handled()).size
      await eventually(
        async () => {
          const now = (await handled()).size
          if (now < before + records) throw new Error(`${String(now - before)} of them`)
        },
        { expectation: `${String(records)} more records to be handled`, timeoutMs: 60_000 },
      )
    },
    async [Symbol.asyncDispose]() {
      await Promise.all(workers.map((worker) => worker.kill()))
      await rm(folder, { recursive: true, force: true })
    },
  }
}
