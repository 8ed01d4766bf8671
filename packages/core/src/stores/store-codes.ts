import type { Failure } from '../policies/failure.ts'

/** The failure of an attempt whose lease expired: its process ended, stalled or was cut off. */
export const leaseExpired: Failure = Object.freeze({ category: 'UNKNOWN', code: 'LEASE_EXPIRED' })

/** The failure of a message that was parked because an earlier one of its ordering key was. */
export const keyParked: Failure = Object.freeze({ category: 'UNKNOWN', code: 'KEY_PARKED' })

/** Failed attempts that a store keeps for one message: the last ones. */
export const failureHistoryLength = 20
