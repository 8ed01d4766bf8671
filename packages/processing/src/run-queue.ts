import type { HeldWork } from './held-work.ts'

/** Rows waiting for a worker. Rows of one ordering key are handed out one at a time, in order. */
export interface RunQueue {
  /** Rows waiting, those behind a running one of their key included. */
  readonly size: number
  /** Adds a row behind the others of its key. */
  push(work: HeldWork): void
  /** Takes the next row that may run; `undefined` when none may. */
  next(): HeldWork | undefined
  /** The row is done and its key goes on; answers true when nothing of the key is left here. */
  goOn(work: HeldWork): boolean
  /** The row did not succeed: takes everything behind it out, in order. */
  cutKey(work: HeldWork): HeldWork[]
  /** Takes everything out; nothing is pushed afterwards. */
  drain(): HeldWork[]
}

/** Starts an empty queue. */
export function createRunQueue(): RunQueue {
  const ready = createFifo<HeldWork>()
  const lanes = new Map<string, HeldWork[]>()
  let waitingInLanes = 0

  const laneOf = (work: HeldWork): string | undefined => {
    const { orderingKey, tenantId = '' } = work.envelope.message
    return orderingKey === undefined ? undefined : `${tenantId}\0${orderingKey}`
  }
  const cut = (lane: string): HeldWork[] => {
    const behind = lanes.get(lane) ?? []
    lanes.delete(lane)
    waitingInLanes -= behind.length
    return behind
  }
  return {
    get size() {
      return ready.size + waitingInLanes
    },
    push(work) {
      const lane = laneOf(work)
      const behind = lane === undefined ? undefined : lanes.get(lane)
      if (behind !== undefined) {
        behind.push(work)
        waitingInLanes += 1
        return
      }
      if (lane !== undefined) lanes.set(lane, [])
      ready.push(work)
    },
    next: () => ready.shift(),
    goOn(work) {
      const lane = laneOf(work)
      if (lane === undefined) return false
      const following = lanes.get(lane)?.shift()
      if (following === undefined) {
        lanes.delete(lane)
        return true
      }
      waitingInLanes -= 1
      ready.push(following)
      return false
    },
    cutKey(work) {
      const lane = laneOf(work)
      return lane === undefined ? [] : cut(lane)
    },
    drain() {
      const taken: HeldWork[] = []
      for (let work = ready.shift(); work !== undefined; work = ready.shift()) taken.push(work)
      for (const behind of lanes.values()) taken.push(...behind)
      lanes.clear()
      waitingInLanes = 0
      return taken
    },
  }
}

interface Fifo<T> {
  readonly size: number
  push(item: T): void
  shift(): T | undefined
}

/** An array with a moving head: `shift` of a long array copies it. */
function createFifo<T>(): Fifo<T> {
  let items: (T | undefined)[] = []
  let head = 0
  return {
    get size() {
      return items.length - head
    },
    push: (item) => {
      items.push(item)
    },
    shift() {
      if (head === items.length) return undefined
      const item = items[head]
      items[head] = undefined
      head += 1
      if (head === items.length) {
        items = []
        head = 0
      }
      return item
    },
  }
}
