/** Acknowledgements as the protocol takes them: all up to one number, and others one by one. */
interface AckPlan<T> {
  /** Settles this one and every one before it that is not settled yet. */
  readonly upTo: T | undefined
  /** Settled alone, since an unsettled one is before them. */
  readonly alone: readonly T[]
}

/**
 * Numbers of the deliveries of one channel that are settled, beginning with 1. What is acknowledged together is one
 * frame as long as nothing unsettled is before it: for client and broker alike a frame costs more than a delivery.
 */
export interface SettledTags {
  /** It was given back or discarded. */
  add(tag: number): void
  /** Plans the acknowledgement of some, which are settled from now on. */
  acknowledge<T>(byTag: ReadonlyMap<number, T>): AckPlan<T>
}

/** Starts with none. */
export function createSettledTags(): SettledTags {
  /** Settled ones behind the first that is not. */
  const settled = new Set<number>()
  let firstUnsettled = 1
  return {
    add(tag) {
      settled.add(tag)
    },
    acknowledge<T>(byTag: ReadonlyMap<number, T>) {
      for (const tag of byTag.keys()) settled.add(tag)
      let upTo: T | undefined
      for (; settled.delete(firstUnsettled); firstUnsettled += 1) upTo = byTag.get(firstUnsettled) ?? upTo
      const alone = [...byTag].filter(([tag]) => tag > firstUnsettled).map(([, entry]) => entry)
      return { upTo, alone }
    },
  }
}
