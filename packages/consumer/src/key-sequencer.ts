import type { SettlementTerminal } from './ledger.ts'

/** Runs work of one key in sequence and of different keys beside each other. */
export interface KeySequencer {
  /**
   * Runs `handle` when everything earlier of the key has ended. When an earlier one went back to the broker, this one
   * goes back too, unhandled: otherwise it would overtake.
   */
  run(
    key: string,
    handle: () => Promise<SettlementTerminal>,
    giveBack: () => Promise<SettlementTerminal>,
  ): Promise<SettlementTerminal>
  /** Gives back everything that waits behind another of its key. */
  cut(): void
}

/** Starts with no key in use. */
export function createKeySequencer(): KeySequencer {
  /** The last one of each key: resolves with true when the next of the key may run. */
  const tails = new Map<string, Promise<boolean>>()
  const waiting = new Set<(mayRun: boolean) => void>()

  const turnAfter = (earlier: Promise<boolean>): Promise<boolean> =>
    new Promise((resolve) => {
      const decide = (mayRun: boolean): void => {
        waiting.delete(decide)
        resolve(mayRun)
      }
      waiting.add(decide)
      void earlier.then(decide)
    })
  return {
    async run(key, handle, giveBack) {
      const earlier = tails.get(key)
      const { promise: tail, resolve: end } = Promise.withResolvers<boolean>()
      tails.set(key, tail)
      let goesOn = false
      try {
        const mayRun = earlier === undefined || (await turnAfter(earlier))
        const terminal = await (mayRun ? handle() : giveBack())
        goesOn = mayRun && !wentBack.has(terminal)
        return terminal
      } finally {
        if (tails.get(key) === tail) tails.delete(key)
        end(goesOn)
      }
    },
    cut() {
      for (const decide of [...waiting]) decide(false)
    },
  }
}

/** Terminals after which the broker delivers the message again. */
const wentBack: ReadonlySet<SettlementTerminal> = new Set(['returned', 'pending_redelivery', 'unresolved'])
