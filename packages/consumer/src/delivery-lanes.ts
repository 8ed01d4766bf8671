import type { Clock, TransportCapabilities } from '@litebus/core'
import { createKeySequencer } from './key-sequencer.ts'
import type { DeliveryLanes } from './lanes.ts'
import { createOrderedLanes } from './ordered-lanes.ts'

/** What lanes work with. */
export interface DeliveryLanesOptions {
  /** What the source can do. */
  readonly capabilities: TransportCapabilities
  /** Most deliveries handled at a time. */
  readonly maxInFlight: number
  /** Deliveries that the broker may push ahead. */
  readonly prefetch: number
  /** Time. */
  readonly clock: Clock
}

/** Lanes that keep as much order as the source has. */
export function createDeliveryLanes({
  capabilities,
  maxInFlight,
  prefetch,
  clock,
}: DeliveryLanesOptions): DeliveryLanes {
  const { orderedStream, pausable, deliveryLimit = Number.POSITIVE_INFINITY } = capabilities
  // Elsewhere another reader may have what went back, or the transport itself keeps its place.
  if (orderedStream && !pausable) {
    // Pushed beyond what is handled, it comes only when something else has left its place.
    const mostWaiting = prefetch > maxInFlight ? maxInFlight - 1 : Number.POSITIVE_INFINITY
    return createOrderedLanes({ deliveryLimit, mostWaiting, clock })
  }
  const sequencer = createKeySequencer()
  return {
    run(key, { deliveryCount = 0 }, { handle, giveBack }) {
      // The source keeps it no longer if it goes back now: it does not come again, and nothing has to wait for it.
      const comesAgain = deliveryCount <= deliveryLimit
      const onSent = (): void => {
        if (comesAgain) sequencer.cutKey(key)
      }
      return sequencer.run(key, {
        handle: () => handle(onSent),
        giveBack: () => giveBack(() => undefined),
        comesAgain,
      })
    },
    lost() {
      sequencer.lost()
    },
    cut() {
      sequencer.cut()
    },
  }
}
