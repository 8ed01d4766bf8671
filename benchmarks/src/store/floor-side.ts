import type { Side } from '../harness/benchmark.ts'
import type { PayloadKind } from '../harness/payloads.ts'
import { floorLease, floorSettle } from './floor-model.ts'
import { openFloor } from './open-floor.ts'

/** What a round of the store benchmarks does. */
export interface StoreRound {
  readonly databaseUrl: string
  readonly kind: PayloadKind
  /** Messages of a round. */
  readonly messages: number
  /** Messages of one lease. */
  readonly batch: number
}

/** The hand-written loop: the next lease overlaps the settle of the last batch. */
export async function floorSide({
  databaseUrl,
  kind,
  messages,
  batch,
}: StoreRound): Promise<Side & AsyncDisposable> {
  const floor = await openFloor(databaseUrl)
  const { leaser, settler } = floor
  let position = '0'
  return {
    name: `floor, ${kind}`,
    async prepare() {
      await floor.fill(kind, messages)
      await leaser.query('analyze floor.queue')
    },
    async run() {
      let handled = 0
      let settling: Promise<unknown> = Promise.resolve()
      while (handled < messages) {
        const { rows: leased } = await leaser.query<LeasedRow>({
          text: floorLease,
          values: [position, batch, 'floor'],
          rowMode: 'array',
        })
        const rows = leased.toSorted((a, b) => Number(a[0]) - Number(b[0]))
        const last = rows.at(-1)
        position = last?.[0] ?? '0'
        if (last === undefined) continue
        for (const row of rows) JSON.parse(row[6])
        const sequences = rows.map((row) => row[0])
        const generations = rows.map((row) => row[1])
        handled += rows.length
        await settling
        settling = settler.query(floorSettle, [sequences, generations, 'floor'])
      }
      await settling
      return handled
    },
    async [Symbol.asyncDispose]() {
      await floor[Symbol.asyncDispose]()
    },
  }
}

/** Sequence, generation, attempts, id, contract, time, body. */
type LeasedRow = [string, string, number, string, string, Date, string]
