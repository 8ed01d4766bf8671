import type { Axis, Failure, StoredMessage } from '@litebus/core'
import { failureHistoryLength } from '@litebus/core'
import { DueHeap } from './due-heap.ts'
import { blocksKey, insertInOrder, laneIdOf, type Lane } from './lane.ts'
import type { Row } from './row.ts'

/** Everything one axis holds. The operations work on it synchronously, so each of them is atomic. */
export class AxisState {
  readonly axis: Axis
  readonly byId: Map<string, Row> = new Map<string, Row>()
  readonly byKey: Map<string, Row> = new Map<string, Row>()
  /** Rows without ordering key that wait; may contain rows that have left, see {@link AxisState.takeDue}. */
  readonly due: DueHeap = new DueHeap()
  /** Leased rows without ordering key. */
  readonly leased: Set<Row> = new Set<Row>()
  /** Suspects without ordering key that wait. */
  readonly suspects: Set<Row> = new Set<Row>()
  readonly lanes: Map<string, Lane> = new Map<string, Lane>()
  queued = 0
  #sequence = 0
  #generation = 0

  /** Builds an empty axis. */
  constructor(axis: Axis) {
    this.axis = axis
  }

  /** The next sequence; grows with every write that was begun. */
  nextSequence(): number {
    return ++this.#sequence
  }

  /** The next generation; never used before. */
  nextGeneration(): string {
    return String(++this.#generation)
  }

  /** Makes a new row visible. */
  insert(row: Row): void {
    this.byId.set(row.message.id, row)
    const key = idempotencyScopeOf(row.message)
    if (key !== undefined) this.byKey.set(key, row)
    this.enqueue(row)
  }

  /** Makes a row wait. */
  enqueue(row: Row): void {
    row.place = 'queue'
    row.lease = undefined
    this.queued += 1
    const lane = this.laneOf(row)
    if (lane !== undefined) insertInOrder(lane.rows, row)
    else if (row.suspect) this.suspects.add(row)
    else this.due.push(row)
  }

  /** Takes a row out of the queue. */
  dequeue(row: Row, place: 'dead' | 'done' | 'gone'): void {
    this.queued -= 1
    row.place = place
    row.lease = undefined
    this.leased.delete(row)
    this.suspects.delete(row)
    const lane = this.laneOf(row)
    if (lane === undefined) return
    lane.leased.delete(row)
    const index = lane.rows.indexOf(row)
    if (index >= 0) lane.rows.splice(index, 1)
    this.dropIfEmpty(lane)
  }

  /** Parks a waiting or leased row. */
  park(row: Row, failure: Failure, now: number): void {
    recordFailure(row, failure, now)
    this.dequeue(row, 'dead')
    row.endedAt = now
    if (blocksKey(row)) this.laneOf(row)?.letters.add(row)
  }

  /** Forgets a row for good. */
  forget(row: Row): void {
    if (row.place === 'queue') this.dequeue(row, 'gone')
    this.unpark(row)
    row.place = 'gone'
    this.byId.delete(row.message.id)
    const key = idempotencyScopeOf(row.message)
    if (key !== undefined) this.byKey.delete(key)
  }

  /** Removes a letter from what blocks its key. */
  unpark(row: Row): void {
    const id = laneIdOf(row.message)
    const lane = id === undefined ? undefined : this.lanes.get(id)
    if (lane === undefined) return
    lane.letters.delete(row)
    this.dropIfEmpty(lane)
  }

  /** The lane of a row, made when there is none; absent without an ordering key. */
  laneOf(row: Row): Lane | undefined {
    const id = laneIdOf(row.message)
    if (id === undefined) return undefined
    const known = this.lanes.get(id)
    if (known !== undefined) return known
    const lane: Lane = { id, rows: [], leased: new Set(), letters: new Set() }
    this.lanes.set(id, lane)
    return lane
  }

  private dropIfEmpty(lane: Lane): void {
    if (lane.rows.length === 0 && lane.letters.size === 0) this.lanes.delete(lane.id)
  }
}

/** Names the idempotency key of a message within its tenant. */
export function idempotencyScopeOf(message: StoredMessage): string | undefined {
  return message.idempotencyKey === undefined
    ? undefined
    : `${message.tenantId ?? ''}\0${message.idempotencyKey}`
}

/** Adds a failed attempt to the history of a row. */
export function recordFailure(row: Row, { category, code }: Failure, now: number): void {
  const record = { attempt: row.attempts, category, code, at: new Date(now) }
  row.failures = [...row.failures, record].slice(-failureHistoryLength)
  row.firstFailureAt ??= now
}
