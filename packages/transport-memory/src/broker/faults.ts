/** What a publish fault does. */
export interface PublishFault {
  /** The outcome that the publisher sees. */
  readonly status: 'rejected' | 'ambiguous' | 'unavailable'
  /** For `ambiguous`: the message arrived all the same. @defaultValue false */
  readonly stored?: boolean
  /** How many publishes it hits. @defaultValue 1 */
  readonly times?: number
}

/** What a settlement fault does. */
export interface SettlementFault {
  /** What the settlement call answers. */
  readonly result: 'notSent' | 'unknown'
  /** For `unknown`: the broker got it all the same. @defaultValue false, the message is delivered again */
  readonly arrived?: boolean
  /** How many settlements it hits. @defaultValue 1 */
  readonly times?: number
}

/** Everything that can go wrong with a broker, on demand. */
export interface MemoryFaults {
  /** Cuts every connection: deliveries held are revoked and come back, publishes without an answer are ambiguous. */
  dropConnections(): void
  /** Lets no connection be opened until called with true. */
  setReachable(reachable: boolean): void
  /** Takes no publishes until called with false; publishers wait. */
  setBlocked(blocked: boolean): void
  /** Answers coming publishes with a fault. */
  failNextPublish(fault: PublishFault): void
  /** Keeps confirms back; messages arrive at once. The result lets them go. */
  holdConfirms(): () => void
  /** Answers coming settlements with a fault. */
  failNextSettlement(fault: SettlementFault): void
  /** Closes the channels that consume a queue: what they hold is delivered again. */
  redeliver(queue: string): void
  /** Cancels the consumers of a queue from the side of the broker. */
  cancelConsumers(queue: string): void
}

/** A fault that hits the next so many calls. */
export interface Countdown<T> {
  /** The fault of this call, if one is left. */
  next(): T | undefined
  /** Adds a fault for the next `times` calls. */
  add(fault: T, times: number): void
}

/** No faults yet. */
export function createCountdown<T>(): Countdown<T> {
  const pending: T[] = []
  return {
    next: () => pending.shift(),
    add(fault, times) {
      for (let index = 0; index < times; index += 1) pending.push(fault)
    },
  }
}
