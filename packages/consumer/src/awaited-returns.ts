import type { Delivery } from '@litebus/core'

/**
 * What went back to an ordered source and has not come again, by lane. A broker pushes ahead: what it had sent when the
 * return reached it arrives here before the one that went back, and would overtake it.
 */
export interface AwaitedReturns {
  /** One went back: it comes again before what is behind it. */
  wentBack(lane: string, delivery: Delivery): void
  /** Another one of the lane went back behind it. */
  followed(lane: string, delivery: Delivery): void
  /** Whether a delivery was sent before something of its lane went back that is still to come: it has to follow it. */
  overtakes(lane: string, delivery: Delivery): boolean
  /** The subscription was lost: everything comes again, and in order. */
  forget(): void
}

/** Lanes for which something is awaited; of more, those that have waited longest are forgotten. */
const mostLanes = 10_000

/** Awaits nothing. */
export function createAwaitedReturns(): AwaitedReturns {
  /** By lane, in the order in which they went back, which is that in which they come; no id: undefined. */
  const lanes = new Map<string, (string | undefined)[]>()

  const forgetLongest = (): void => {
    for (const lane of lanes.keys()) {
      if (lanes.size <= mostLanes) return
      lanes.delete(lane)
    }
  }
  return {
    wentBack(lane, delivery) {
      // What went back before it and is still to come has left the broker before this return gets there, or is behind.
      lanes.delete(lane)
      lanes.set(lane, [idOf(delivery)])
      forgetLongest()
    },
    followed(lane, delivery) {
      lanes.get(lane)?.push(idOf(delivery))
    },
    overtakes(lane, delivery) {
      const awaited = lanes.get(lane)
      if (awaited === undefined) return false
      const id = idOf(delivery)
      const place = id === undefined && !delivery.redelivered ? -1 : awaited.indexOf(id)
      if (place === -1) return true
      // Those before it would have come before it: they are gone from the source, by its limit or their time.
      awaited.splice(0, place + 1)
      if (awaited.length === 0) lanes.delete(lane)
      return false
    },
    forget() {
      lanes.clear()
    },
  }
}

function idOf({ deliveryId, message }: Delivery): string | undefined {
  return deliveryId ?? message.messageId
}
