import type { Intake } from './intake.ts'

/**
 * Gives back together what is held: one subscription carries all of it, and what stayed behind would be revoked under
 * its feet.
 */
export interface GivingUp {
  /** Aborts when the deliveries held now must go back; those of a later subscription get a new one. */
  readonly signal: AbortSignal
  /** Ends the subscription; the next one is made when `until` has resolved. */
  giveUp(until: Parameters<Intake['suspend']>[0]): void
}

/** Starts with nothing given up. */
export function createGivingUp(intake: Pick<Intake, 'suspend'>): GivingUp {
  let present = new AbortController()
  return {
    get signal() {
      return present.signal
    },
    giveUp(until) {
      const past = present
      present = new AbortController()
      intake.suspend(until)
      past.abort()
    },
  }
}
