/** Where the right to settle one delivery stands. */
export type SettlementAuthorityState = 'held' | 'taken' | 'spent' | 'revoked'

/**
 * The one-shot right to settle one delivery, apart from any I/O, for transport adapters. A call takes it before it
 * sends; what may have reached the broker spends it for good, what certainly did not gives it back.
 */
export interface SettlementAuthority {
  /** `held`: nobody settles yet; `taken`: a call holds it; `spent` and `revoked` are final. */
  readonly state: SettlementAuthorityState
  /** Takes it for one call; false when it is taken, spent or revoked, and then nothing may be sent. */
  take(): boolean
  /** What was sent may have reached the broker: final. */
  spend(): void
  /** Nothing was sent: it is held again, unless it was revoked meanwhile. */
  giveBack(): void
  /** Ends it because its channel, session or assignment is gone. */
  revoke(): void
}

/** A fresh authority, held. */
export function createSettlementAuthority(): SettlementAuthority {
  return new OneShotAuthority()
}

/** A class, since there is one for each delivery. */
class OneShotAuthority implements SettlementAuthority {
  #state: SettlementAuthorityState = 'held'

  get state(): SettlementAuthorityState {
    return this.#state
  }

  take(): boolean {
    if (this.#state !== 'held') return false
    this.#state = 'taken'
    return true
  }

  spend(): void {
    if (this.#state === 'taken') this.#state = 'spent'
  }

  giveBack(): void {
    if (this.#state === 'taken') this.#state = 'held'
  }

  revoke(): void {
    if (this.#state !== 'spent') this.#state = 'revoked'
  }
}
