import type { Clock } from '../ports/clock.ts'
import type { Delivery, ReturnOptions, SettlementResult } from '../ports/delivery.ts'
import { sleep } from '../time/sleep.ts'
import { createSettlementAuthority, type SettlementAuthority } from './settlement-authority.ts'
import { portRules, readOptions, type OptionShape } from '../options/read-options.ts'

/** What a delivery says about itself; the ledger adds the settlement calls. */
export type DeliveryFacts = Omit<Delivery, 'accept' | 'returnToQueue' | 'discard' | 'extend'>

/** What a driver made of one settlement. */
export type SendResult = Exclude<SettlementResult, 'revoked'>

/** How an adapter settles; `Ref` is what its broker needs to find the delivery again. */
export interface SettlementDriver<Ref> {
  /** Takes the message off its source. */
  accept(ref: Ref): Promise<SendResult>
  /** Gives it back now, or with a delay of its own where `nativeReturnDelay` is set. */
  returnToQueue(ref: Ref, options: ReturnOptions): Promise<SendResult>
  /** Takes it off its source without success. */
  discard(ref: Ref, reason: string): Promise<SendResult>
  /** Extends the time for which it may be held. */
  extend?(ref: Ref, holdMs: number): Promise<void>
}

/** What a ledger needs. */
export interface DeliveryLedgerOptions<Ref> {
  /** Most deliveries handed out and not settled. */
  readonly maxInFlight: number
  /** Settles at the broker; a rejection counts as `unknown`. */
  readonly driver: SettlementDriver<Ref>
  /** Receives each delivery; what it throws goes to `onFault` and the delivery is given back. */
  readonly onDelivery: (delivery: Delivery) => void
  /** Receives what `onDelivery` threw. */
  readonly onFault: (error: unknown) => void
  /** Called whenever deliveries are revoked: `onRevoked` of the subscription, passed on. */
  readonly onRevoked?: (() => void) | undefined
  /** Holds back returns with a delay. */
  readonly clock: Clock
  /** The broker delays returns itself, so that the ledger does not hold them. @defaultValue false */
  readonly nativeReturnDelay?: boolean
}

const ledgerShape: OptionShape<DeliveryLedgerOptions<never>> = {
  maxInFlight: 'any?',
  driver: 'object',
  onDelivery: 'function',
  onFault: 'function',
  onRevoked: 'function?',
  clock: { ...portRules.clock, optional: false },
  nativeReturnDelay: 'any?',
}

/**
 * Deliveries between the broker and the handlers: hands out at most `maxInFlight`, buffers the rest in order, gives
 * each delivery its one-shot authority, and takes all of them away at once when their channel, session or
 * assignment is gone. No I/O: adapters bring a driver.
 */
export interface DeliveryLedger<Ref> {
  /** Handed out and not settled. */
  readonly inFlight: number
  /** Received and not handed out. */
  readonly buffered: number
  /** A delivery came from the broker. */
  add(ref: Ref, facts: DeliveryFacts): void
  /** Stops handing out. */
  pause(): void
  /** Hands out again, the buffer first. */
  resume(): void
  /** Stops handing out for good, sends held returns at once, and returns what nobody started, in order. */
  close(): readonly Ref[]
  /** Takes what nobody started out of the buffer, in order. */
  takeUnstarted(): readonly Ref[]
  /** Revokes every delivery handed out and forgets the buffer; returns how many were handed out and unsettled. */
  revokeAll(): number
  /** Resolves when nothing is in flight and no settlement is on its way, or when the signal aborts. */
  settled(signal: AbortSignal): Promise<void>
}

interface Entry<Ref> {
  readonly ref: Ref
  readonly authority: SettlementAuthority
  /** Ends the wait of a return; only there while one is being held, as most deliveries never are. */
  hold?: AbortController
}

/** Settlements with one answer. */
interface SentTogether<Ref> {
  readonly sending: Promise<SendResult>
  readonly entries: Entry<Ref>[]
  readonly answer: Promise<SettlementResult>
}

const revoked: Promise<SettlementResult> = Promise.resolve('revoked')

/** How long a delivery is held when its receiver threw, so that a broken receiver does not loop hot. */
const faultReturnDelayMs = 1000

/** An empty ledger that hands out. */
export function createDeliveryLedger<Ref>(given: DeliveryLedgerOptions<Ref>): DeliveryLedger<Ref> {
  const options = readOptions('delivery ledger', given, { shape: ledgerShape })
  const { driver } = options
  const buffer: { readonly ref: Ref; readonly facts: DeliveryFacts }[] = []
  const inFlight = new Set<Entry<Ref>>()
  /** Sent and not answered. */
  const onTheirWay = new Set<Entry<Ref>>()
  /** The latest ones that the driver answers for with one promise. */
  let together: SentTogether<Ref> | undefined
  const waiting = new Set<() => void>()
  let paused = false
  let closed = false
  let pumping = false

  const pump = (): void => {
    if (pumping) return
    pumping = true
    while (!paused && !closed && inFlight.size < options.maxInFlight) {
      const next = buffer.shift()
      if (next === undefined) break
      handOut(next.ref, next.facts)
    }
    pumping = false
    if (inFlight.size === 0 && onTheirWay.size === 0) for (const wake of waiting) wake()
  }

  const handOut = (ref: Ref, facts: DeliveryFacts): void => {
    const entry: Entry<Ref> = { ref, authority: createSettlementAuthority() }
    inFlight.add(entry)
    const delivery = deliveryOf(entry, facts)
    try {
      options.onDelivery(delivery)
    } catch (error) {
      options.onFault(error)
      void delivery.returnToQueue({ delayMs: faultReturnDelayMs })
    }
  }

  /** Callbacks and no async functions on the way of a delivery: it is taken thousands of times a second. */
  const sendNow = (
    entry: Entry<Ref>,
    send: () => Promise<SendResult>,
    onSent?: () => void,
  ): Promise<SettlementResult> => {
    if (isRevoked(entry.authority)) return revoked
    // The slot is free as soon as the settlement is sent: waiting for the answer holds no handler back.
    inFlight.delete(entry)
    onTheirWay.add(entry)
    try {
      const sending = send()
      onSent?.()
      pump()
      return answerTo(sending, entry)
    } catch {
      // A driver that throws may have sent: the authority is spent, redelivery decides.
      return Promise.resolve(answered(entry, 'unknown'))
    }
  }
  /** What was sent with the same request has the same answer, and one callback for all of it. */
  const answerTo = (sending: Promise<SendResult>, entry: Entry<Ref>): Promise<SettlementResult> => {
    if (together?.sending === sending) {
      together.entries.push(entry)
      return together.answer
    }
    const entries = [entry]
    const allAnswered = (result: SendResult): SendResult => {
      if (together?.entries === entries) together = undefined
      for (const one of entries) answered(one, result)
      return result
    }
    const answer = sending.then(allAnswered, () => allAnswered('unknown'))
    together = { sending, entries, answer }
    return answer
  }
  const answered = (entry: Entry<Ref>, result: SendResult): SendResult => {
    onTheirWay.delete(entry)
    if (result === 'notSent' && !isRevoked(entry.authority)) {
      entry.authority.giveBack()
      inFlight.add(entry)
    } else {
      entry.authority.spend()
    }
    pump()
    return result
  }
  const settle = (entry: Entry<Ref>, send: () => Promise<SendResult>): Promise<SettlementResult> =>
    entry.authority.take() ? sendNow(entry, send) : revoked
  const giveBack = (entry: Entry<Ref>, how: ReturnOptions): Promise<SettlementResult> => {
    if (!entry.authority.take()) return revoked
    const send = (): Promise<SendResult> => driver.returnToQueue(entry.ref, how)
    const { delayMs = 0 } = how
    if (delayMs <= 0 || closed || options.nativeReturnDelay === true) return sendNow(entry, send, how.onSent)
    entry.hold = new AbortController()
    return sleep(options.clock, delayMs, entry.hold.signal).then(() => sendNow(entry, send, how.onSent))
  }

  const extend = driver.extend?.bind(driver)
  const deliveryOf = (entry: Entry<Ref>, facts: DeliveryFacts): Delivery => {
    const { ref } = entry
    return {
      ...facts,
      accept: () => settle(entry, () => driver.accept(ref)),
      returnToQueue: (how = {}) => giveBack(entry, how),
      discard: ({ reason }) => settle(entry, () => driver.discard(ref, reason)),
      ...(extend === undefined ? undefined : { extend: (holdMs: number) => extend(ref, holdMs) }),
    }
  }

  const takeUnstarted = (): readonly Ref[] => buffer.splice(0).map(({ ref }) => ref)

  return {
    get inFlight() {
      return inFlight.size
    },
    get buffered() {
      return buffer.length
    },
    add(ref, facts) {
      buffer.push({ ref, facts })
      pump()
    },
    pause() {
      paused = true
    },
    resume() {
      paused = false
      pump()
    },
    close() {
      closed = true
      for (const entry of inFlight) entry.hold?.abort()
      return takeUnstarted()
    },
    takeUnstarted,
    revokeAll() {
      const unsettled = inFlight.size
      buffer.length = 0
      for (const entry of inFlight) {
        entry.authority.revoke()
        entry.hold?.abort()
      }
      // What is on its way keeps its answer, but a refusal gives no authority back.
      for (const entry of onTheirWay) entry.authority.revoke()
      inFlight.clear()
      options.onRevoked?.()
      pump()
      return unsettled
    },
    settled(signal) {
      return new Promise((resolve) => {
        const finish = (): void => {
          waiting.delete(finish)
          signal.removeEventListener('abort', finish)
          resolve()
        }
        if (signal.aborted || (inFlight.size === 0 && onTheirWay.size === 0)) {
          resolve()
          return
        }
        waiting.add(finish)
        signal.addEventListener('abort', finish, { once: true })
      })
    },
  }
}

function isRevoked(authority: SettlementAuthority): boolean {
  return authority.state === 'revoked'
}
