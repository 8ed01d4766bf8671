import { OptionsError } from '../errors/errors.ts'
import type { BatchOptions, WriteOptions } from '../ports/writers.ts'

/** The names of a set of options; the compiler sees to it that none is forgotten. */
type Names<T> = Readonly<Record<keyof Required<T>, true>>

/** Options of a batch write. */
export const batchNames: Names<BatchOptions<unknown>> = { transaction: true }

/** Options of one slot of a batch write. */
export const slotNames: Names<WriteOptions> = {
  messageId: true,
  idempotency: true,
  visibility: true,
  body: true,
  bodyIsValidated: true,
  from: true,
  sendKey: true,
  sourceId: true,
  tenantId: true,
  orderingKey: true,
  topic: true,
  correlationId: true,
  causationId: true,
  trace: true,
  headers: true,
}

/** Options of a write of one message. */
export const writeNames: Names<WriteOptions & BatchOptions<unknown>> = { ...slotNames, ...batchNames }

/**
 * Refuses what would silently change where and how a message is written: a name that does not exist, and a name that is
 * given as `undefined`. A transaction that is not there would mean a write of its own, which stays when the rest of the
 * caller's work is rolled back.
 *
 * @throws OptionsError naming every fault.
 */
export function refuseMisspelt(axis: string, options: object, names: Readonly<Record<string, true>>): void {
  if (typeof (options as unknown) !== 'object' || (options as unknown) === null) {
    throw new OptionsError(axis, [`expected an object of write options, found ${typeof options}`])
  }
  const faults: string[] = []
  // Each message of a batch comes through here: no list of its options is made for the sake of what is wrong with none.
  for (const name in options) {
    const value = (options as Readonly<Record<string, unknown>>)[name]
    if ((names[name] === true && value !== undefined) || !Object.hasOwn(options, name)) continue
    if (names[name] !== true) {
      faults.push(`expected no write option ${name}, there are: ${Object.keys(names).join(', ')}`)
    } else {
      faults.push(`expected ${name} to have a value, found undefined; leave it out where there is none`)
    }
  }
  if (faults.length > 0) throw new OptionsError(axis, faults)
}
