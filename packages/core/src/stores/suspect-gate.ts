import type { Axis } from '../messages/message-state.ts'
import type { Lease } from '../ports/lease.ts'

/**
 * What a store may lease now: ordinary messages, exactly one suspect, or nothing because a suspect runs or waits
 * for its turn.
 */
export type GateDecision = 'shared' | 'suspect' | 'closed'

/** Timings of a {@link SuspectGate}, in milliseconds. */
export interface SuspectGateOptions {
  /**
   * How long a claim lasts when its processor does not ask again: a processor that was stopped must not keep the
   * others waiting. @defaultValue 2000
   */
  readonly claimTtlMs?: number
  /**
   * How long a suspect waits for the held leases to end before ordinary leasing resumes for as long: a handler
   * that runs for hours must not stop everything else. @defaultValue 60000
   */
  readonly patienceMs?: number
}

/** What one lease call brought. */
export interface GateGrant {
  /** The decision that the call was made under. */
  readonly decision: Exclude<GateDecision, 'closed'>
  /** Who asked. */
  readonly claimant: string
  /** Axis of the leases. */
  readonly axis: Axis
  /** The leases, possibly none. */
  readonly leases: readonly Lease[]
  /** Monotonic time at which they expire locally. */
  readonly untilMs: number
  /** Whether the call saw suspects that it did not lease. */
  readonly suspectsWaiting: boolean
}

interface Claim {
  seenMs: number
  readonly sinceMs: number
}

/** Shared by the leases of one call that have one generation, as they nearly always do. */
interface Held {
  readonly generation: string
  readonly untilMs: number
}

/**
 * Keeps suspects alone. A message whose lease expired may be the one that ended its process; it runs only while the
 * processors that share one storage hold no other lease, so that it can take nobody along. When suspects wait, no
 * ordinary leases are given until the held ones are settled or expired; then exactly one suspect runs. The gate
 * knows no clock and no I/O: times are passed in.
 */
export class SuspectGate {
  readonly #claimTtlMs: number
  readonly #patienceMs: number
  readonly #claims = new Map<string, Claim>()
  readonly #held: Readonly<Record<Axis, Map<string, Held>>> = { inbox: new Map(), outbox: new Map() }
  #callsInFlight = 0
  #suspectCallInFlight = false
  #exclusive: { readonly axis: Axis; readonly sequence: string } | undefined
  #restUntilMs = Number.NEGATIVE_INFINITY
  #nextPruneMs = 0

  /** Builds an open gate. */
  constructor(options: SuspectGateOptions = {}) {
    this.#claimTtlMs = options.claimTtlMs ?? 2000
    this.#patienceMs = options.patienceMs ?? 60_000
  }

  /** Leases that are held and not expired, as far as this gate was told. */
  get heldCount(): number {
    return this.#held.inbox.size + this.#held.outbox.size
  }

  /** Decides what `claimant` may lease now. Every answer but `closed` must be followed by {@link SuspectGate.granted}. */
  ask(claimant: string, nowMs: number): GateDecision {
    if (this.#claims.size > 0 || this.#exclusive !== undefined || nowMs >= this.#nextPruneMs)
      this.#prune(nowMs)
    if (this.#suspectCallInFlight || this.#exclusive !== undefined) return 'closed'
    if (this.#claims.size === 0) {
      this.#callsInFlight += 1
      return 'shared'
    }
    const claim = this.#claims.get(claimant)
    if (claim === undefined) return 'closed'
    claim.seenMs = nowMs
    if (this.heldCount === 0 && this.#callsInFlight === 0) {
      this.#suspectCallInFlight = true
      return 'suspect'
    }
    if (nowMs - claim.sinceMs < this.#patienceMs) return 'closed'
    this.#claims.clear()
    this.#restUntilMs = nowMs + this.#patienceMs
    this.#callsInFlight += 1
    return 'shared'
  }

  /** Records what a call brought; also when it failed, then without leases. */
  granted(grant: GateGrant, nowMs: number): void {
    if (grant.decision === 'shared') this.#callsInFlight -= 1
    else {
      this.#suspectCallInFlight = false
      this.#claims.delete(grant.claimant)
      const lease = grant.leases[0]
      if (lease !== undefined) this.#exclusive = { axis: grant.axis, sequence: lease.sequence }
    }
    this.#hold(grant.axis, grant.leases, grant.untilMs)
    if (grant.suspectsWaiting && nowMs >= this.#restUntilMs && !this.#claims.has(grant.claimant)) {
      this.#claims.set(grant.claimant, { seenMs: nowMs, sinceMs: nowMs })
    }
  }

  /** Records renewed leases. */
  renewed(axis: Axis, leases: readonly Lease[], untilMs: number): void {
    const held = this.#held[axis]
    const stands = ({ sequence, generation }: Lease): boolean => held.get(sequence)?.generation === generation
    this.#hold(axis, leases.filter(stands), untilMs)
  }

  /** Records leases that were settled, released or lost. True when waiting processors should ask again. */
  ended(axis: Axis, leases: readonly Lease[]): boolean {
    const held = this.#held[axis]
    let exclusiveEnded = false
    for (const { sequence, generation } of leases) {
      if (held.get(sequence)?.generation !== generation) continue
      held.delete(sequence)
      if (this.#exclusive?.axis === axis && this.#exclusive.sequence === sequence) {
        this.#exclusive = undefined
        exclusiveEnded = true
      }
    }
    return exclusiveEnded || (this.#claims.size > 0 && this.heldCount === 0)
  }

  #hold(axis: Axis, leases: readonly Lease[], untilMs: number): void {
    const map = this.#held[axis]
    let held: Held | undefined
    for (const { sequence, generation } of leases) {
      if (held?.generation !== generation) held = { generation, untilMs }
      map.set(sequence, held)
    }
  }

  #prune(nowMs: number): void {
    this.#nextPruneMs = nowMs + 10_000
    for (const axis of ['inbox', 'outbox'] as const) {
      for (const [sequence, held] of this.#held[axis]) {
        if (held.untilMs > nowMs) continue
        this.#held[axis].delete(sequence)
        if (this.#exclusive?.axis === axis && this.#exclusive.sequence === sequence)
          this.#exclusive = undefined
      }
    }
    for (const [claimant, claim] of this.#claims) {
      if (nowMs - claim.seenMs > this.#claimTtlMs) this.#claims.delete(claimant)
    }
  }
}
