import type { BrokerAddress } from '../transports/broker-address.ts'

/** Where a process that takes deliveries into its inbox may die. */
export type IngressStep =
  | 'before the store has anything'
  | 'after the commit, before the broker hears of it'
  | 'after the broker has heard of the first one'

/** What the worker of ingress is told. */
export interface IngressSettings {
  /** The broker. */
  readonly address: BrokerAddress
  /** Where it consumes from. */
  readonly source: string
  /** The database of its inbox. */
  readonly databaseUrl: string
  /** Deliveries of one write; 1 for single accepts. */
  readonly batchSize: number
  /** Where it dies. */
  readonly step: IngressStep
}
