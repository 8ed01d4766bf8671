import { sleep, type Clock, type Delivery } from '@litebus/core'
import type { DeliveryLanes, LaneWork } from './lanes.ts'
import { wentBack, type SettlementTerminal } from './ledger.ts'

/** What lanes work with. */
export interface OrderedLanesOptions {
  /** Redeliveries after which the source keeps a message no longer. */
  readonly deliveryLimit: number
  /** Most that may wait: more would take the place of what they wait for. */
  readonly mostWaiting: number
  /** Time. */
  readonly clock: Clock
}

/** One that waits for its turn, or runs. */
interface Taken {
  readonly delivery: Delivery
  /** Its place among all, from when it first came. */
  readonly rank: number
  readonly work: LaneWork
  readonly end: (terminal: SettlementTerminal | Promise<SettlementTerminal>) => void
  /** Whether it is awaited again already, since its return is on its way or its subscription was lost. */
  isAwaited: boolean
}

/** One that went back and has not come again. */
interface Awaited {
  readonly id: string | undefined
  readonly count: number | undefined
  readonly rank: number
  /** When it went back: those of earlier turns come before it. */
  readonly turn: number
}

interface Lane {
  /** By rank. */
  waiting: Taken[]
  running: Taken | undefined
  awaited: readonly Awaited[]
  /** There while the first one waits for what went back; aborts when it goes on. */
  patience: AbortController | undefined
}

/** How long one waits for what went back before it. It comes within a round trip, unless it is gone from the source. */
const patienceMs = 1000
/** Lanes that are remembered; of more, one that only awaits something is forgotten for each. */
const mostLanes = 10_000

/**
 * Runs each lane in the order in which its deliveries first came, from a source that is ordered and cannot be paused.
 * When one goes back, the broker may have sent others of its lane already, which arrive after the return has left: they
 * wait here, unsettled, until it has come again.
 */
export function createOrderedLanes({
  deliveryLimit,
  mostWaiting,
  clock,
}: OrderedLanesOptions): DeliveryLanes {
  const lanes = new Map<string, Lane>()
  let lastRank = 0
  let lastTurn = 0

  const laneOf = (key: string): Lane => {
    const known = lanes.get(key)
    if (known !== undefined) return known
    const lane: Lane = { waiting: [], running: undefined, awaited: [], patience: undefined }
    lanes.set(key, lane)
    if (lanes.size > mostLanes) forgetOneAwaiting()
    return lane
  }
  /** What it awaits may never come: it is with another reader since, or gone. */
  const forgetOneAwaiting = (): void => {
    for (const [key, { running, waiting, awaited }] of lanes) {
      if (running !== undefined || waiting.length > 0 || awaited.length === 0) continue
      lanes.delete(key)
      return
    }
  }
  const expect = (lane: Lane, taken: Taken, turn: number): void => {
    if (taken.isAwaited) return
    taken.isAwaited = true
    const { delivery, rank } = taken
    // The source keeps it no longer: nothing has to wait for it.
    if ((delivery.deliveryCount ?? 0) > deliveryLimit) return
    lane.awaited = [...lane.awaited, { id: idOf(delivery), count: delivery.deliveryCount, rank, turn }]
  }
  const wentBackNow = (lane: Lane, taken: Taken): void => {
    lastTurn += 1
    expect(lane, taken, lastTurn)
  }
  const giveBack = (lane: Lane, taken: Taken): void => {
    const onSent = (): void => {
      wentBackNow(lane, taken)
    }
    taken.end(taken.work.giveBack(onSent))
  }
  const giveBackWaiting = (lane: Lane): void => {
    for (const taken of lane.waiting.splice(0)) giveBack(lane, taken)
  }
  const waitingInAll = (): number => {
    let count = 0
    for (const { waiting } of lanes.values()) count += waiting.length
    return count
  }
  const isBlocked = ({ awaited }: Lane, { rank }: Taken): boolean => awaited.some((one) => one.rank < rank)

  const bePatient = async (key: string, lane: Lane): Promise<void> => {
    if (lane.patience !== undefined) return
    const patience = new AbortController()
    lane.patience = patience
    await sleep(clock, patienceMs, patience.signal)
    if (patience.signal.aborted) return
    lane.patience = undefined
    giveBackWaiting(lane)
    goOn(key, lane)
  }
  const start = async (key: string, lane: Lane, taken: Taken): Promise<SettlementTerminal> => {
    lane.running = taken
    try {
      const terminal = await taken.work.handle(() => {
        wentBackNow(lane, taken)
      })
      if (wentBack.has(terminal)) wentBackNow(lane, taken)
      return terminal
    } finally {
      lane.running = undefined
      goOn(key, lane)
    }
  }
  const goOn = (key: string, lane: Lane): void => {
    const [first] = lane.waiting
    if (lane.running !== undefined) return
    if (first !== undefined && isBlocked(lane, first)) {
      void bePatient(key, lane)
      return
    }
    lane.patience?.abort()
    lane.patience = undefined
    if (first === undefined) {
      if (lane.awaited.length === 0) lanes.delete(key)
      return
    }
    lane.waiting.shift()
    first.end(start(key, lane, first))
  }
  /** Its place from before, if it went back; what should have come before it then is gone from the source. */
  const rankOf = (lane: Lane, delivery: Delivery): number => {
    const own = ownOf(lane.awaited, delivery)
    if (own === undefined) {
      lastRank += 1
      return lastRank
    }
    const { rank, turn } = own
    lane.awaited = lane.awaited.filter((one) => one !== own && !(one.rank < rank && one.turn < turn))
    return rank
  }
  return {
    run(key, delivery, work) {
      const lane = laneOf(key)
      const rank = rankOf(lane, delivery)
      const { promise, resolve: end } = Promise.withResolvers<SettlementTerminal>()
      const taken: Taken = { delivery, rank, work, end, isAwaited: false }
      if (isBlocked(lane, taken) && waitingInAll() >= mostWaiting) giveBack(lane, taken)
      else {
        const behind = lane.waiting.findIndex((one) => one.rank > rank)
        lane.waiting.splice(behind === -1 ? lane.waiting.length : behind, 0, taken)
        goOn(key, lane)
      }
      return promise
    },
    lost() {
      lastTurn += 1
      for (const lane of lanes.values()) {
        lane.awaited = lane.awaited.map((one) => ({ ...one, turn: lastTurn }))
        const { running } = lane
        if (running !== undefined) expect(lane, running, lastTurn)
        for (const taken of lane.waiting.splice(0)) {
          expect(lane, taken, lastTurn)
          taken.end(taken.work.giveBack(() => undefined))
        }
      }
    },
    cut() {
      for (const lane of lanes.values()) giveBackWaiting(lane)
    },
  }
}

/** The one that went back and now comes again, by its id and how often it was delivered. */
function ownOf(awaited: readonly Awaited[], delivery: Delivery): Awaited | undefined {
  if (!delivery.redelivered) return undefined
  const { deliveryCount } = delivery
  const id = idOf(delivery)
  const same = awaited.filter((one) => one.id === id)
  if (deliveryCount === undefined) return same[0]
  return (
    same.find(({ count }) => count === deliveryCount - 1) ??
    same.find(({ count }) => count === undefined || count < deliveryCount)
  )
}

function idOf({ deliveryId, message }: Delivery): string | undefined {
  return deliveryId ?? message.messageId
}
