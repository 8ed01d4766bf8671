import { floorLease, floorSettle } from '../store/floor-model.ts'
import { openFloor } from '../store/open-floor.ts'
import type { OwnSide, RelayRound } from './broker-round.ts'

/** What is published of a row. */
interface FloorMessage {
  readonly id: string
  readonly body: Buffer
}

/** Publishes messages with the raw client and waits for all confirms. */
export interface RawPublisher extends AsyncDisposable {
  publish(messages: readonly FloorMessage[]): Promise<void>
}

/**
 * The hand-written loop: the next lease overlaps the confirms of the last batch, and a batch is settled by one
 * statement when all of it is confirmed. The window is the same.
 */
export async function relayFloor(round: RelayRound, publisher: RawPublisher): Promise<OwnSide> {
  const { databaseUrl, queue, kind, messages, batch, window } = round
  const floor = await openFloor(databaseUrl)
  const { leaser, settler } = floor
  let position = '0'
  return {
    name: `floor, ${kind}`,
    async prepare() {
      await queue.purge()
      await floor.fill(kind, messages)
      await leaser.query('analyze floor.queue')
    },
    async run() {
      const open: Promise<unknown>[] = []
      let handled = 0
      let settling: Promise<unknown> = Promise.resolve()
      while (handled < messages) {
        const { rows } = await leaser.query<LeasedRow>({
          text: floorLease,
          values: [position, batch, 'floor'],
          rowMode: 'array',
        })
        rows.sort((a, b) => Number(a[0]) - Number(b[0]))
        const last = rows.at(-1)
        position = last?.[0] ?? '0'
        if (last === undefined) continue
        handled += rows.length
        if (open.length >= window / batch) await open.shift()
        const confirmed = publisher.publish(rows.map((row) => ({ id: row[3], body: Buffer.from(row[6]) })))
        open.push(confirmed)
        settling = Promise.all([confirmed, settling]).then(() =>
          settler.query(floorSettle, [rows.map((row) => row[0]), rows.map((row) => row[1]), 'floor']),
        )
      }
      await settling
      return handled
    },
    async [Symbol.asyncDispose]() {
      await publisher[Symbol.asyncDispose]()
      await floor[Symbol.asyncDispose]()
    },
  }
}

/** Sequence, generation, attempts, id, contract, time, body. */
type LeasedRow = [string, string, number, string, string, Date, string]
