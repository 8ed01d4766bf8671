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
  /** In order of their numbers; the first one has number `firstTag`. An array, since numbers have no gaps. */
  let slots: (Slot<T> | undefined)[] = []
  let firstTag = 1
  /** Those before it have their answer. */
  let head = 0
  let active = 0
  let activeBytes = 0

  const release = (slot: Slot<T>): void => {
    if (slot.abandoned) return
    slot.abandoned = true
    active -= 1
    activeBytes -= slot.entry.body.byteLength
  }

  const takeAt = (index: number, outcome: PublishOutcome): Answered<T> | undefined => {
    const slot = slots[index]
    if (slot === undefined) return undefined
    slots[index] = undefined
    release(slot)
    return { entry: slot.entry, outcome: outcomeOf(slot, outcome) }
  }

  const answer = (tag: number, multiple: boolean, outcome: PublishOutcome): readonly Answered<T>[] => {
    const last = Math.min(tag - firstTag, slots.length - 1)
    const answered: Answered<T>[] = []
    for (let index = multiple ? head : tag - firstTag; index <= last; index += 1) {
      const taken = takeAt(index, outcome)
      if (taken !== undefined) answered.push(taken)
    }
    forget()
    return answered
  }

  /** Moves the head behind what has its answer, and lets go of what is before it once that is most of the array. */
  const forget = (): void => {
    while (head < slots.length && slots[head] === undefined) head += 1
    if (head < slots.length && head * 2 < slots.length) return
    slots = slots.slice(head)
    firstTag += head
    head = 0
  }

  const open = (): readonly Slot<T>[] => slots.filter((slot) => slot !== undefined)

  return {
    get active() {
      return active
    },
    get activeBytes() {
      return activeBytes
    },
    sent(entry) {
      slots.push({ entry, returned: false, abandoned: false, doubted: false })
      active += 1
      activeBytes += entry.body.byteLength
    },
    abandon(entry) {
      // Looked for one by one: it is rare, and an index would cost every publish.
      for (const slot of open()) if (slot.entry === entry) release(slot)
    },
    returned(identity) {
      const candidates = open().filter((slot) => !slot.returned && sameAddress(slot.entry, identity))
      // Two publishes under one id may be outstanding. If they differ, only the equal one is meant; if they do not,
      // they are the same message, and it does not matter which of the two is called rejected.
      const slot =
        candidates.length < 2
          ? candidates[0]
          : (candidates.find(({ entry }) => sameContent(entry, identity)) ?? candidates[0])
      if (slot !== undefined) slot.returned = true
      else for (const one of open()) one.doubted = true
    },
    acked: (tag, multiple) => answer(tag, multiple, confirmed),
    nacked: (tag, multiple) => answer(tag, multiple, rejected(publishFailures.brokerRefused)),
    closed(close) {
      const left = open()
      for (const slot of left) release(slot)
      firstTag += slots.length
      slots = []
      head = 0
      return left.map(({ entry, returned }) => ({ entry, outcome: closedOutcome(entry, returned, close) }))
    },
  }
}

const confirmed: PublishOutcome = { status: 'confirmed' }

function outcomeOf({ returned, doubted }: Slot<unknown>, outcome: PublishOutcome): PublishOutcome {
  if (returned) return rejected(publishFailures.unroutable)
  return doubted && outcome.status === 'confirmed' ? returnUnmatched : outcome
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
