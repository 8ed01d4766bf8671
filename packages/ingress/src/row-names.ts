import { idsOfDeliveries, storeLimits } from '@litebus/core'

/** What the row of a delivery is known by, of the id that the source calls it by. */
export interface RowNames {
  /** Id of the row. */
  readonly idOf: (sourceId: string) => string
  /**
   * Idempotency key. Readable while it fits and only one source can mean it: `b:c` from `a` is not `c` from `a:b`. The
   * id of the row says the same of any source and length.
   */
  readonly keyOf: (sourceId: string) => string
}

/** The names of the rows of one source. */
export function nameRows(source: string): RowNames {
  const idOf = idsOfDeliveries(source)
  const beginning = `ingress:${source}:`
  const longest = source.includes(':') ? -1 : storeLimits.keyLength - beginning.length
  return {
    idOf,
    keyOf: (sourceId) =>
      sourceId.length <= longest ? `${beginning}${sourceId}` : `ingress:${idOf(sourceId)}`,
  }
}
