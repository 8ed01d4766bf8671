import { publishFailures, type Failure, type PublishOutcome } from '@litebus/core'
import type { ServerClose } from './server-close.ts'

/** What identifies a publish when the broker returns it: a return carries no number. */
export interface PublishIdentity {
  /** Exchange. */
  readonly exchange: string
  /** Routing key. */
  readonly routingKey: string
  /** Message id. */
  readonly messageId: string
  /** Headers. */
  readonly headers: Readonly<Record<string, string>>
  /** Body. */
  readonly body: Uint8Array
}

/** A publish that was sent, with the outcome that the broker gave. */
export interface Answered<T> {
  /** The publish. */
  readonly entry: T
  /** Its outcome. */
  readonly outcome: PublishOutcome
}

/**
 * Publishes sent on one channel and not answered, by their number. A state machine without I/O: the broker's events
 * go in, outcomes come out.
 */
export interface PublishWindow<T extends PublishIdentity> {
  /** Publishes that someone still waits for. */
  readonly active: number
  /** Bytes of their bodies. */
  readonly activeBytes: number
  /** A publish was sent. */
  sent(entry: T): void
  /** Nobody waits for it any more; it keeps its number, since its answer still comes. */
  abandon(entry: T): void
  /** The broker returned a message; its confirm follows and means nothing. */
  returned(identity: PublishIdentity): void
  /** The broker confirmed one, or all up to it. */
  acked(tag: number, multiple: boolean): readonly Answered<T>[]
  /** The broker refused one, or all up to it. */
  nacked(tag: number, multiple: boolean): readonly Answered<T>[]
  /** The channel is gone: everything gets its outcome now. */
  closed(close: ServerClose | undefined): readonly Answered<T>[]
}

interface Slot<T> {
  readonly entry: T
  returned: boolean
  abandoned: boolean
  /** A return came that belongs to none: it may be meant. */
  doubted: boolean
}

/** The window of a fresh channel: its first publish has number 1. */
export function createPublishWindow<T extends PublishIdentity>(): PublishWindow<T> {
  /** In order of their numbers. */
  const slots = new Map<number, Slot<T>>()
  let lastTag = 0
  let active = 0
  let activeBytes = 0

  const release = (slot: Slot<T>): void => {
    if (slot.abandoned) return
    slot.abandoned = true
    active -= 1
    activeBytes -= slot.entry.body.byteLength
  }

  const take = (tag: number): readonly Slot<T>[] => {
    const slot = slots.get(tag)
    if (slot === undefined) return []
    slots.delete(tag)
    release(slot)
    return [slot]
  }

  const takeUpTo = (tag: number): readonly Slot<T>[] => {
    const taken: Slot<T>[] = []
    for (const [key, slot] of slots) {
      if (key > tag) break
      slots.delete(key)
      release(slot)
      taken.push(slot)
    }
    return taken
  }

  const answer = (tag: number, multiple: boolean, outcome: PublishOutcome): readonly Answered<T>[] =>
    (multiple ? takeUpTo(tag) : take(tag)).map((slot) => ({
      entry: slot.entry,
      outcome: slot.returned
        ? rejected(publishFailures.unroutable)
        : slot.doubted && outcome.status === 'confirmed'
          ? returnUnmatched
          : outcome,
    }))

  return {
    get active() {
      return active
    },
    get activeBytes() {
      return activeBytes
    },
    sent(entry) {
      lastTag += 1
      slots.set(lastTag, { entry, returned: false, abandoned: false, doubted: false })
      active += 1
      activeBytes += entry.body.byteLength
    },
    abandon(entry) {
      // Looked for one by one: it is rare, and an index would cost every publish.
      for (const slot of slots.values()) if (slot.entry === entry) release(slot)
    },
    returned(identity) {
      const candidates = [...slots.values()].filter(
        (slot) => !slot.returned && sameAddress(slot.entry, identity),
      )
      // Two publishes under one id may be outstanding. If they differ, only the equal one is meant; if they do not,
      // they are the same message, and it does not matter which of the two is called rejected.
      const slot =
        candidates.length < 2
          ? candidates[0]
          : (candidates.find(({ entry }) => sameContent(entry, identity)) ?? candidates[0])
      if (slot !== undefined) slot.returned = true
      else for (const open of slots.values()) open.doubted = true
    },
    acked: (tag, multiple) => answer(tag, multiple, { status: 'confirmed' }),
    nacked: (tag, multiple) => answer(tag, multiple, rejected(publishFailures.brokerRefused)),
    closed(close) {
      return takeUpTo(Number.POSITIVE_INFINITY).map(({ entry, returned }) => ({
        entry,
        outcome: closedOutcome(entry, returned, close),
      }))
    },
  }
}

/** A confirm says nothing about a message that may have been returned. */
const returnUnmatched: PublishOutcome = {
  status: 'ambiguous',
  failure: { category: 'UNKNOWN', code: 'AMQP_RETURN_UNMATCHED' },
}

function closedOutcome(
  entry: PublishIdentity,
  returned: boolean,
  close: ServerClose | undefined,
): PublishOutcome {
  if (returned) return rejected(publishFailures.unroutable)
  if (close?.exchange !== undefined && close.exchange === entry.exchange) {
    return rejected(
      close.code === 404
        ? publishFailures.destinationMissing
        : { category: 'AUTHORIZATION', code: 'AMQP_ACCESS_REFUSED' },
    )
  }
  if (close?.maxMessageBytes !== undefined && entry.body.byteLength > close.maxMessageBytes) {
    return rejected(publishFailures.messageTooLarge)
  }
  return { status: 'ambiguous', failure: publishFailures.connectionLost }
}

function rejected(failure: Failure): PublishOutcome {
  return { status: 'rejected', failure }
}

function sameAddress(entry: PublishIdentity, other: PublishIdentity): boolean {
  return (
    entry.messageId === other.messageId &&
    entry.routingKey === other.routingKey &&
    entry.exchange === other.exchange
  )
}

function sameContent(entry: PublishIdentity, other: PublishIdentity): boolean {
  const names = Object.keys(entry.headers)
  return (
    Buffer.compare(entry.body, other.body) === 0 &&
    names.length === Object.keys(other.headers).length &&
    names.every((name) => entry.headers[name] === other.headers[name])
  )
}
