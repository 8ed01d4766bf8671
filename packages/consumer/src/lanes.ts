import type { Delivery } from '@litebus/core'
import type { SettlementTerminal } from './ledger.ts'

/** What is done with one delivery of a lane; `onSent` is called once its return is on its way. */
export interface LaneWork {
  /** Handles it. */
  readonly handle: (onSent: () => void) => Promise<SettlementTerminal>
  /** Gives it back unhandled. */
  readonly giveBack: (onSent: () => void) => Promise<SettlementTerminal>
}

/** Runs the deliveries of one lane in sequence and those of different lanes beside each other. */
export interface DeliveryLanes {
  /** Runs one when its turn comes, or gives it back where it would overtake what went back before it. */
  run(key: string, delivery: Delivery, work: LaneWork): Promise<SettlementTerminal>
  /** The subscription was lost: what is not settled comes again. */
  lost(): void
  /** Gives back everything that waits. */
  cut(): void
}
