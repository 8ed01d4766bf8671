import type { ConsumerOptions } from '@litebus/consumer'
import type { BrokerAddress } from '../transports/broker-address.ts'

/** Where a process that hands a message over may die. */
export type HandoffStep =
  | 'before the publish'
  | 'after the publish, before its confirm'
  | 'after the confirm, before the accept'
  | 'after the accept'

/** What the worker of handoffs is told. */
export interface HandoffSettings {
  /** The broker. */
  readonly address: BrokerAddress
  /** Where it consumes from. */
  readonly source: string
  /** What becomes of what it gets. */
  readonly hop: 'retry' | 'deadLetter'
  /** Where its dead letters go. */
  readonly dead: string
  /** Where its retry copies go. */
  readonly again: string
  /** Delays that the broker has for them, if it has any. */
  readonly delays: readonly number[]
  /** Where it dies. */
  readonly step: HandoffStep
}

/** A retry by a copy: through a delay of the broker, where it has one. */
export function retryByCopy({
  again,
  dead,
  delays,
}: Pick<HandoffSettings, 'again' | 'dead' | 'delays'>): NonNullable<ConsumerOptions['retry']> {
  return {
    mode: delays.length > 0 ? 'brokerDelayed' : 'retryDestination',
    ordering: 'allowReorder',
    maxAttempts: 3,
    retryDestination: again,
    deadLetterDestination: dead,
    backoff: { initialDelayMs: 20, maxDelayMs: 100 },
  }
}
