import type { Side } from '../harness/benchmark.ts'
import type { PayloadKind } from '../harness/payloads.ts'

/** Contract of everything that the benchmarks send. */
export const contractName = 'order-placed'

/** The headers that are always written. */
export function requiredHeaders(id: string): Record<string, string> {
  return {
    'litebus-message-id': id,
    'litebus-contract-name': contractName,
    'litebus-contract-version': '1',
  }
}

/** The queue or topic of one side, as an operator sees it. */
export interface BenchQueue extends AsyncDisposable {
  readonly name: string
  /** Leaves nothing that the next round would meet. */
  purge(): Promise<void>
  /** Publishes fresh messages and waits for their confirms. */
  fill(kind: PayloadKind, messages: number): Promise<void>
}

/** What a round of a benchmark with a broker works with. */
export interface BrokerRound {
  readonly databaseUrl: string
  readonly brokerUrl: string
  readonly queue: BenchQueue
  readonly kind: PayloadKind
  readonly messages: number
}

/** What a round of a relay does. */
export interface RelayRound extends BrokerRound {
  /** Rows of one lease. */
  readonly batch: number
  /** Most publishes sent and not confirmed. */
  readonly window: number
}

/** What a round of an ingress does. */
export interface IngressRound extends BrokerRound {
  /** Deliveries of one statement. */
  readonly batch: number
  /** Deliveries held at a time. */
  readonly prefetch: number
}

/** A side with what it has open. */
export type OwnSide = Side & AsyncDisposable

/** The sides of one broker. */
export interface BrokerSides<Round extends BrokerRound> {
  /** Which service it needs. */
  readonly broker: 'rabbitmq' | 'kafka'
  /** Makes a queue of its own for a side. */
  readonly openQueue: (url: string, name: string) => Promise<BenchQueue>
  readonly product: (round: Round) => Promise<OwnSide>
  readonly floor: (round: Round) => Promise<OwnSide>
  /** The client alone. */
  readonly raw: (round: Round) => Promise<OwnSide>
}
