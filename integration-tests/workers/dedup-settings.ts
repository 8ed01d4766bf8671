import type { BrokerAddress } from '../transports/broker-address.ts'

/** Where a process that handles a message once may die. */
export type DedupStep =
  | 'after the claim, before the handler'
  | 'after the work of the handler, before its completion'
  | 'after the completion, before the accept'

/** What the worker that deduplicates is told. */
export interface DedupSettings {
  /** The broker. */
  readonly address: BrokerAddress
  /** Where it consumes from. */
  readonly source: string
  /** Where its dead letters go. */
  readonly dead: string
  /** Its database, with a table `shipped`. */
  readonly databaseUrl: string
  /** Whether its handler works in the transaction of its completion. */
  readonly transactional: boolean
  /** Where it dies. */
  readonly step: DedupStep
}

/** Longest run of a handler, and lease of a claim: short, since the next process waits for it. */
export const dedupTimes = { executionBudgetMs: 1000, leaseMs: 2500 } as const

/** What a handler of these tests works with: a pool, or the transaction of its completion. */
interface Shipping {
  query(text: string, values: unknown[]): Promise<unknown>
}

/** The work of the handler. */
export async function ship(id: string, within: unknown): Promise<void> {
  await (within as Shipping).query('insert into shipped (id) values ($1)', [id])
}
