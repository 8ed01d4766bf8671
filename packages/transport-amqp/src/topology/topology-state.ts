import { within, type Clock, type Logger, type TopologyMismatchError } from '@litebus/core'
import type { AmqpDriverConnection } from '../driver.ts'
import { applyTopology, type TopologyProblems } from './apply-topology.ts'
import type { AmqpTopology } from './topology.ts'

/** What is known about a topology at its broker. */
export interface TopologyState {
  /** Declares or verifies everything, on a new connection. */
  readonly apply: (driver: AmqpDriverConnection) => Promise<void>
  /** Whether there is anything that it did not agree to. */
  readonly hasProblems: boolean
  /** What the broker did not agree to for one of these names, when it was asked last. */
  problemOf(names: Iterable<string>): TopologyMismatchError | undefined
  /** Asks again for what of these names it did not agree to: it may have been created since. */
  ask(driver: AmqpDriverConnection, names: readonly string[]): Promise<void>
  /** The same without waiting, and not again and again. */
  askSoon(driver: AmqpDriverConnection | undefined, names: readonly string[]): void
}

/** What it works with. */
export interface TopologyStateOptions {
  /** What the broker should hold. */
  readonly topology: AmqpTopology
  /** How long the broker may take to answer. */
  readonly connectTimeoutMs: number
  /** Where log lines go. */
  readonly logger: Logger
  /** Time. */
  readonly clock: Clock
}

/** Least time between two questions that publishes lead to, in milliseconds. */
const askAgainMs = 1000

/** Starts without having asked. */
export function createTopologyState(options: TopologyStateOptions): TopologyState {
  const { topology, connectTimeoutMs, clock, logger } = options
  let problems: TopologyProblems = new Map()
  let askedAt = Number.NEGATIVE_INFINITY

  const ask = async (driver: AmqpDriverConnection, names: readonly string[]): Promise<void> => {
    const only = new Set(names.filter((name) => problems.has(name)))
    if (only.size === 0) return
    const found = await within(clock, connectTimeoutMs, applyTopology(driver, topology, only))
    const others = [...problems].filter(([name]) => !only.has(name))
    problems = new Map([...others, ...found])
    for (const name of only) {
      if (!found.has(name)) logger.info('the broker agrees to what is declared now', { name })
    }
  }
  return {
    async apply(driver) {
      problems = await applyTopology(driver, topology)
      for (const problem of problems.values()) logger.error(problem.message, { code: problem.code })
    },
    get hasProblems() {
      return problems.size > 0
    },
    problemOf(names) {
      for (const name of names) {
        const problem = problems.get(name)
        if (problem !== undefined) return problem
      }
      return undefined
    },
    ask,
    askSoon(driver, names) {
      const now = clock.monotonic()
      if (driver === undefined || now - askedAt < askAgainMs) return
      askedAt = now
      // A connection that fails meanwhile asks everything again when it is back.
      void ask(driver, names).catch(() => undefined)
    },
  }
}
