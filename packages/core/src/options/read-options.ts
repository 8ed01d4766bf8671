import { OptionsError } from '../errors/errors.ts'
import { definedOptions } from './defined-options.ts'

/** A port that an option must be: an object, or function, with these members. */
export interface PortRule {
  /** Names of members that are asked for. */
  readonly members: readonly string[]
  /** Whether it may be left out. @defaultValue false */
  readonly optional?: boolean
}

/** What an option must be; with a question mark it may be left out. `any`: its values are checked elsewhere. */
export type OptionRule = 'any?' | `${'object' | 'list' | 'function' | 'text'}${'' | '?'}` | PortRule

/** A rule for each option that there is, so that none can be forgotten, and any other name is a mistake. */
export type OptionShape<T> = { readonly [K in keyof Required<T>]: OptionRule }

/** How options are read. */
export interface ReadOptions {
  /** Names that no rule knows are left alone, for parts that are handed the options of a whole. @defaultValue false */
  readonly open?: boolean
}

/** Rules for the ports that most options have. */
export const portRules: {
  readonly logger: PortRule
  readonly telemetry: PortRule
  readonly clock: PortRule
  readonly random: 'function?'
  readonly transport: PortRule
} = Object.freeze({
  logger: { members: ['debug', 'info', 'warn', 'error'], optional: true },
  telemetry: { members: ['count', 'record', 'observe', 'startSpan'], optional: true },
  clock: { members: ['now', 'monotonic', 'schedule'], optional: true },
  random: 'function?',
  transport: { members: ['system', 'capabilitiesOf', 'publisher', 'consumer', 'probe'] },
})

/**
 * Reads the options of a factory: an option given as `undefined` counts as left out, a missing or wrong one and a name
 * that does not exist are faults. Values are never shown: options hold credentials.
 *
 * @throws OptionsError naming every fault.
 */
export function readOptions<T extends object>(
  subject: string,
  given: T,
  { shape, open = false }: { readonly shape: OptionShape<NoInfer<T>> } & ReadOptions,
): T {
  const faults = optionFaults('', given, { shape, open })
  if (faults.length > 0) throw new OptionsError(subject, faults)
  return definedOptions(given)
}

/** Names what is wrong with a group of options; `prefix` is where they stand, `batch.` for example. */
export function optionFaults<T extends object>(
  prefix: string,
  given: T | undefined,
  { shape, open = false }: { readonly shape: OptionShape<NoInfer<T>> } & ReadOptions,
): string[] {
  const value: unknown = given
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    const what = prefix === '' ? 'an object of options' : `${prefix.slice(0, -1)} to be an object`
    return [`expected ${what}, found ${kindOf(value)}`]
  }
  const rules = shape as Readonly<Record<string, OptionRule>>
  const options = value as Readonly<Record<string, unknown>>
  const faults = Object.entries(rules).flatMap(([name, rule]) => faultOf(prefix + name, options[name], rule))
  if (open) return faults
  const known = Object.keys(rules)
  for (const name of Object.keys(options)) {
    if (known.includes(name)) continue
    faults.push(`expected no option ${prefix}${name}, there are: ${known.join(', ')}`)
  }
  return faults
}

function faultOf(name: string, value: unknown, rule: OptionRule): string[] {
  const optional = typeof rule === 'string' ? rule.endsWith('?') : rule.optional === true
  if (value === undefined) return optional ? [] : [`expected ${name}, found none`]
  if (typeof rule !== 'string') return portFaults(name, value, rule)
  const kind = rule.replace('?', '')
  if (kind === 'any' || kindOf(value) === kind) return []
  return [`expected ${name} to be ${article[kind] ?? kind}, found ${kindOf(value)}`]
}

function portFaults(name: string, value: unknown, { members }: PortRule): string[] {
  if (typeof value !== 'function' && (typeof value !== 'object' || value === null)) {
    return [`expected ${name} with ${members.join(', ')}, found ${kindOf(value)}`]
  }
  const missing = members.filter((member) => (value as Record<string, unknown>)[member] === undefined)
  return missing.length === 0
    ? []
    : [`expected ${name} with ${members.join(', ')}, found one without ${missing.join(', ')}`]
}

const article: Readonly<Record<string, string>> = {
  object: 'an object',
  list: 'a list',
  function: 'a function',
}

function kindOf(value: unknown): string {
  if (value === null) return 'null'
  if (Array.isArray(value)) return 'list'
  return typeof value === 'string' ? 'text' : typeof value
}
