import { wentBack, type SettlementTerminal } from './ledger.ts'

/** What is done with one of a key. */
interface KeyedWork {
  /** Handles it. */
  readonly handle: () => Promise<SettlementTerminal>
  /** Gives it back unhandled. */
  readonly giveBack: () => Promise<SettlementTerminal>
  /** Whether the broker delivers it again when it goes back. */
  readonly comesAgain: boolean
}

/** Runs work of one key in sequence and of different keys beside each other. */
export interface KeySequencer {
  /**
   * Runs `handle` when everything earlier of the key has ended. When an earlier one went back to the broker and comes
   * again, this one goes back too, unhandled: otherwise it would overtake.
   */
  run(key: string, work: KeyedWork): Promise<SettlementTerminal>
  /**
   * One of the key is on its way back: what waits behind it goes back in the same turn, and what comes from now on
   * begins anew when that has ended. A broker that is faster than the answers would otherwise deliver the first one
   * behind those that still wait, and it would go back with them, round and round.
   */
  cutKey(key: string): void
  /** Gives back everything that waits behind another of its key. */
  cut(): void
  /** The subscription was lost: what comes from now on waits for what runs, but does not go back with it. */
  lost(): void
}

/** What is under way of one key, since it began or was cut. */
interface Lane {
  /** Decide whether a waiting one may run. */
  readonly waiting: Set<(mayRun: boolean) => void>
  /** Ends of those that have not ended. */
  readonly open: Set<Promise<boolean>>
  /** The last one: resolves with true when the next may run. */
  tail: Promise<boolean> | undefined
}

/** Starts with no key in use. */
export function createKeySequencer(): KeySequencer {
  const lanes = new Map<string, Lane>()

  const laneOf = (key: string): Lane => {
    const lane = lanes.get(key) ?? { waiting: new Set(), open: new Set(), tail: undefined }
    lanes.set(key, lane)
    return lane
  }
  const forget = (key: string, lane: Lane): void => {
    if (lane.open.size === 0 && lanes.get(key) === lane) lanes.delete(key)
  }
  const turnAfter = (earlier: Promise<boolean>, { waiting }: Lane): Promise<boolean> =>
    new Promise((resolve) => {
      const decide = (mayRun: boolean): void => {
        waiting.delete(decide)
        resolve(mayRun)
      }
      waiting.add(decide)
      void earlier.then(decide)
    })
  const giveBackWaiting = ({ waiting }: Lane): void => {
    for (const decide of [...waiting]) decide(false)
  }
  const cutKey = (key: string): void => {
    const lane = lanes.get(key)
    if (lane === undefined) return
    const ended = Promise.all(lane.open).then(() => true)
    const next: Lane = { waiting: new Set(), open: new Set([ended]), tail: ended }
    lanes.set(key, next)
    void ended.then(() => {
      next.open.delete(ended)
      forget(key, next)
    })
    giveBackWaiting(lane)
  }
  return {
    async run(key, { handle, giveBack, comesAgain }) {
      const lane = laneOf(key)
      const earlier = lane.tail
      const { promise: end, resolve } = Promise.withResolvers<boolean>()
      lane.tail = end
      lane.open.add(end)
      let goesOn = false
      try {
        const mayRun = earlier === undefined || (await turnAfter(earlier, lane))
        const terminal = await (mayRun ? handle() : giveBack())
        goesOn = mayRun && !(comesAgain && wentBack.has(terminal))
        return terminal
      } finally {
        lane.open.delete(end)
        forget(key, lane)
        resolve(goesOn)
      }
    },
    cutKey,
    cut() {
      for (const lane of lanes.values()) giveBackWaiting(lane)
    },
    lost() {
      for (const key of [...lanes.keys()]) cutKey(key)
    },
  }
}
