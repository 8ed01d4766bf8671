import type { SettlementTerminal } from './ledger.ts'

/** Runs work of one key in sequence and of different keys beside each other. */
export interface KeySequencer {
  /**
   * Runs `handle` when everything earlier of the key has ended. When an earlier one went back to the broker, this one
   * goes back too, unhandled: otherwise it would overtake.
   */
  run(
    key: string | undefined,
    handle: () => Promise<SettlementTerminal>,
    giveBack: () => Promise<SettlementTerminal>,
  ): Promise<SettlementTerminal>
}

interface Lane {
  readonly tail: Promise<boolean>
}

/** Starts with no key in use. */
export function createKeySequencer(): KeySequencer {
  const lanes = new Map<string, Lane>()
  return {
    async run(key, handle, giveBack) {
      if (key === undefined) return handle()
      const earlier = lanes.get(key)
      const { promise: tail, resolve: end } = Promise.withResolvers<boolean>()
      const lane = { tail }
      lanes.set(key, lane)
      let goesOn = false
      try {
        const mayRun = earlier === undefined || (await earlier.tail)
        const terminal = await (mayRun ? handle() : giveBack())
        goesOn = mayRun && !wentBack.has(terminal)
        return terminal
      } finally {
        if (lanes.get(key) === lane) lanes.delete(key)
        end(goesOn)
      }
    },
  }
}

/** Terminals after which the broker delivers the message again. */
const wentBack: ReadonlySet<SettlementTerminal> = new Set(['returned', 'pending_redelivery', 'unresolved'])
