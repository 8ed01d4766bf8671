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
  /** Where its dead letters go. */
  readonly dead: string
  /** Where it dies. */
  readonly step: HandoffStep
}

const variable = 'LITEBUS_HANDOFF_WORKER'

/** Settings as the environment of the worker. */
export function handoffEnvironment(settings: HandoffSettings): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'], [variable]: JSON.stringify(settings) }
}

/** Settings from the environment. */
export function readHandoffSettings(env: NodeJS.ProcessEnv): HandoffSettings {
  return JSON.parse(env[variable] ?? '{}') as HandoffSettings
}
