import type { Axis, LeaseRequest } from '@litebus/core'
import type { Database } from '../database/database.ts'
import type { Names } from '../schema/names.ts'
import { Interest } from './interest.ts'

/** A row that is not renewed stops counting after this: a process that died asleep must not cost every commit. */
const sleepMs = 30_000

/** The row that asks writers of one axis for notifications. */
export class Sleeper {
  readonly #database: Database
  readonly #names: Names
  readonly #axis: Axis
  readonly #id: string
  readonly #monotonic: () => number
  readonly #interest = new Interest()
  #asleepUntilMs = Number.NEGATIVE_INFINITY
  #last: Promise<unknown> = Promise.resolve()

  /** `id` tells processes apart. */
  constructor(parts: {
    readonly database: Database
    readonly names: Names
    readonly axis: Axis
    readonly id: string
    readonly monotonic: () => number
  }) {
    this.#database = parts.database
    this.#names = parts.names
    this.#axis = parts.axis
    this.#id = `${parts.axis}:${parts.id}`
    this.#monotonic = parts.monotonic
  }

  /** Asks for notifications, or goes on asking. */
  async sleep(): Promise<void> {
    const nowMs = this.#monotonic()
    if (nowMs < this.#asleepUntilMs - sleepMs / 2) return
    this.#asleepUntilMs = nowMs + sleepMs
    const { contracts, tenants } = this.#interest
    await this.#enqueue(
      `insert into ${this.#names.sleeper} (id, axis, expires_at, contracts, tenants)
      values ($1, $2, clock_timestamp() + $3::float8 * interval '1 millisecond', $4, $5)
      on conflict (id) do update
      set expires_at = excluded.expires_at, contracts = excluded.contracts, tenants = excluded.tenants`,
      [this.#id, this.#axis, sleepMs, contracts, tenants],
    )
  }

  /** A processor looks for this: messages that nobody who sleeps here has looked for notify nobody. */
  seeks(filter: Pick<LeaseRequest, 'contracts' | 'tenants'>): void {
    if (this.#interest.add(filter)) this.#asleepUntilMs = Number.NEGATIVE_INFINITY
  }

  /** Needs no notifications now; the row stays, so that the table does not grow. */
  wake(): void {
    if (this.#asleepUntilMs === Number.NEGATIVE_INFINITY) return
    this.#asleepUntilMs = Number.NEGATIVE_INFINITY
    void this.#enqueue(`update ${this.#names.sleeper} set expires_at = '-infinity' where id = $1`, [this.#id])
  }

  /** Removes the row. */
  async close(): Promise<void> {
    await this.#enqueue(`delete from ${this.#names.sleeper} where id = $1`, [this.#id])
  }

  /** One after the other; a failure costs only speed, and polling goes on. */
  #enqueue(text: string, values: readonly unknown[]): Promise<unknown> {
    this.#last = this.#last.then(() =>
      this.#database.run('ask for notifications', text, values).catch(() => undefined),
    )
    return this.#last
  }
}
