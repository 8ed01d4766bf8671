import { keyParked } from '@litebus/core'
import type { Row } from './row.ts'

/** The rows of one ordering key of one tenant. */
export interface Lane {
  readonly id: string
  /** Waiting and leased rows by sequence. */
  readonly rows: Row[]
  /** Rows under a lease, expired or not. */
  readonly leased: Set<Row>
  /** Dead letters that block the key; rows parked because of them are not among these. */
  readonly letters: Set<Row>
}

/** Names the lane of a message: an ordering key is scoped to its tenant. */
export function laneIdOf(message: {
  readonly tenantId?: string
  readonly orderingKey?: string
}): string | undefined {
  return message.orderingKey === undefined ? undefined : `${message.tenantId ?? ''}\0${message.orderingKey}`
}

/** Puts a row where its sequence belongs: late commits and requeued letters come before what is there. */
export function insertInOrder(rows: Row[], row: Row): void {
  let index = rows.length
  while (index > 0 && (rows[index - 1]?.sequence ?? 0) > row.sequence) index -= 1
  rows.splice(index, 0, row)
}

/** Whether a dead letter blocks its key, as opposed to being parked because of another one. */
export function blocksKey(row: Row): boolean {
  return row.failures.at(-1)?.code !== keyParked.code
}
