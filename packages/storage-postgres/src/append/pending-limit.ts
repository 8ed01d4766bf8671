import { InboxStorageError } from '@litebus/core'
import type { Database } from '../database/database.ts'
import type { AxisNames } from '../schema/names.ts'

/** The count is asked for again after this. */
const freshMs = 1000

/** Refuses writes while too many rows wait. */
export interface PendingLimit {
  /** @throws InboxStorageError when `count` more rows would pass the limit. */
  admit(count: number): Promise<void>
}

/** Builds the limit of an axis: the rows counted last, and what this process has written since. */
export function createPendingLimit(
  parts: { readonly database: Database; readonly axis: AxisNames; readonly monotonic: () => number },
  limit: number | undefined,
): PendingLimit {
  let pending = 0
  let countedMs = Number.NEGATIVE_INFINITY
  return {
    async admit(count) {
      if (limit === undefined) return
      if (parts.monotonic() - countedMs > freshMs) {
        const [row] = await parts.database.read(
          'count pending messages',
          `select count(*)::text from (select 1 from ${parts.axis.queue} limit $1::bigint) q`,
          [limit + 1],
        )
        pending = Number(row?.[0] ?? 0)
        countedMs = parts.monotonic()
      }
      if (pending + count > limit) {
        throw new InboxStorageError(
          `the store refuses ${String(count)} messages: its limit of ${String(limit)} pending rows is reached`,
        )
      }
      pending += count
    },
  }
}
