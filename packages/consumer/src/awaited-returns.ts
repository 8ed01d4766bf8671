import type { Clock, Delivery } from '@litebus/core'

/**
 * What went back to an ordered source and has not come again, by lane. A broker pushes ahead: what it had sent when the
 * return reached it arrives here before the one that went back, and would overtake it.
 */
export interface AwaitedReturns {
  /** One went back: an ordered source delivers it again before what was behind it. */
  wentBack(lane: string, delivery: Delivery): void
  /** Another one of the lane went back behind it. */
  followed(lane: string, delivery: Delivery): void
  /** Whether a delivery was sent before the one that went back was there again: it has to go back as well. */
  overtakes(lane: string, delivery: Delivery): boolean
}

/** What awaiting works with. */
export interface AwaitedReturnsOptions {
  /** Redeliveries after which the source keeps a message no longer, where there is a limit. */
  readonly deliveryLimit: number | undefined
  /** Time. */
  readonly clock: Clock
}

interface Awaited {
  /** Ids of all that went back. One of those behind comes first only where the first one is gone from the source. */
  readonly ids: Set<string>
  sinceMs: number
}

/** Longest time that something is under way from the broker, in milliseconds. */
const underWayMs = 30_000

/** Awaits nothing. */
export function createAwaitedReturns({ deliveryLimit, clock }: AwaitedReturnsOptions): AwaitedReturns {
  /** The one that waits longest first. */
  const lanes = new Map<string, Awaited>()

  const isOver = ({ sinceMs }: Awaited): boolean => clock.monotonic() - sinceMs > underWayMs
  const forgetOld = (): void => {
    for (const [lane, awaited] of lanes) {
      if (!isOver(awaited)) return
      lanes.delete(lane)
    }
  }
  const add = ({ ids }: Awaited, delivery: Delivery): void => {
    const id = idOf(delivery)
    if (id !== undefined) ids.add(id)
  }
  return {
    wentBack(lane, delivery) {
      forgetOld()
      const isDropped = deliveryLimit !== undefined && (delivery.deliveryCount ?? 0) > deliveryLimit
      if (isDropped) return
      const awaited = lanes.get(lane) ?? { ids: new Set(), sinceMs: 0 }
      awaited.sinceMs = clock.monotonic()
      add(awaited, delivery)
      lanes.delete(lane)
      lanes.set(lane, awaited)
    },
    followed(lane, delivery) {
      const awaited = lanes.get(lane)
      if (awaited !== undefined) add(awaited, delivery)
    },
    overtakes(lane, delivery) {
      const awaited = lanes.get(lane)
      if (awaited === undefined) return false
      const id = idOf(delivery)
      const cameAgain = id === undefined ? delivery.redelivered : awaited.ids.has(id)
      if (!cameAgain && !isOver(awaited)) return true
      lanes.delete(lane)
      return false
    },
  }
}

function idOf({ deliveryId, message }: Delivery): string | undefined {
  return deliveryId ?? message.messageId
}
