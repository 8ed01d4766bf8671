import {
  checkOptions,
  isolateLogger,
  OptionsError,
  portRules,
  readOptions,
  silentLogger,
  type Logger,
  type OptionShape,
} from '@litebus/core'
import type { MemoryBroker } from './broker/memory-broker.ts'

/** Options of {@link memoryTransport}. */
export interface MemoryTransportOptions {
  /** The broker to connect to. */
  readonly broker: MemoryBroker
  /** How long a publish may wait for room, for an unblocked broker or for its confirm. @defaultValue 30 000 */
  readonly publishTimeoutMs?: number
  /** Most bytes of one message, body and headers. @defaultValue 16 777 216 */
  readonly maxMessageBytes?: number
  /** Pause before a lost connection is opened again, and between attempts. @defaultValue 0 */
  readonly reconnectDelayMs?: number
  /** How long a cancelled subscription looks for its queue before it fails. @defaultValue 1000 */
  readonly missingSourceGraceMs?: number
  /** Where log lines go. @defaultValue nowhere */
  readonly logger?: Logger
}

/** Options with their defaults filled in. */
export type ResolvedMemoryOptions = Required<MemoryTransportOptions>

/** Defaults of {@link MemoryTransportOptions}. */
export const memoryTransportDefaults: Omit<ResolvedMemoryOptions, 'broker'> = Object.freeze({
  publishTimeoutMs: 30_000,
  maxMessageBytes: 16 * 1024 * 1024,
  reconnectDelayMs: 0,
  missingSourceGraceMs: 1000,
  logger: silentLogger,
})

const shape: OptionShape<MemoryTransportOptions> = {
  broker: { members: ['declareQueue', 'internals'] },
  publishTimeoutMs: 'any?',
  maxMessageBytes: 'any?',
  reconnectDelayMs: 'any?',
  missingSourceGraceMs: 'any?',
  logger: portRules.logger,
}

/** Fills in the defaults and reports every fault at once. */
export function resolveMemoryOptions(given: MemoryTransportOptions): ResolvedMemoryOptions {
  const options = readOptions('memoryTransport', given, { shape })
  const resolved = { ...memoryTransportDefaults, ...options }
  const checks = checkOptions()
  checks.duration('publishTimeoutMs', resolved.publishTimeoutMs, { min: 1 })
  checks.integer('maxMessageBytes', resolved.maxMessageBytes, { min: 1 })
  checks.duration('reconnectDelayMs', resolved.reconnectDelayMs)
  checks.duration('missingSourceGraceMs', resolved.missingSourceGraceMs)
  if (checks.faults.length > 0) throw new OptionsError('memoryTransport', checks.faults)
  return { ...resolved, logger: isolateLogger(resolved.logger) }
}
