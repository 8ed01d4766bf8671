import { optionFaults, type OptionShape } from '../options/read-options.ts'
import type { MessageContract } from './message-contract.ts'

const shape: OptionShape<MessageContract<unknown>> = {
  name: 'any?',
  version: 'any?',
  schema: 'any?',
  upcast: 'object?',
  serializer: { members: ['contentType', 'serialize', 'deserialize'], optional: true },
}
const namePattern = /^[\x21-\x7e]{1,200}$/

/**
 * Names what is wrong with a contract, whoever made it: a misspelt schema is no schema, and what is no schema refuses or
 * takes every message.
 */
export function contractFaults(given: unknown): readonly string[] {
  const misnamed = optionFaults('contract.', given as MessageContract<unknown>, { shape })
  if (misnamed.length > 0) return misnamed
  const { name, version, schema, upcast = {} } = given as MessageContract<unknown>
  const faults: string[] = []
  const refuse = (condition: boolean, fault: () => string): void => {
    if (condition) faults.push(fault())
  }
  refuse(
    typeof name !== 'string' || !namePattern.test(name),
    () =>
      `expected a contract name of 1 to 200 printable ASCII characters without spaces, found ${describe(name)}`,
  )
  refuse(
    !Number.isSafeInteger(version) || version < 1 || version > 2 ** 31 - 1,
    () => `expected a positive integer as version of contract ${describe(name)}, found ${describe(version)}`,
  )
  refuse(
    schema !== undefined && !isStandardSchema(schema),
    () =>
      `expected the schema of contract ${describe(name)} to follow the Standard Schema specification ('~standard' with a function validate), found another value`,
  )
  for (const [from, upcaster] of Object.entries(upcast)) {
    const lifts = Number(from)
    refuse(
      !Number.isSafeInteger(lifts) || lifts < 1 || lifts >= version || typeof upcaster !== 'function',
      () =>
        `expected upcasters of contract ${describe(name)} from versions 1 to ${String(version - 1)}, each a function, found one from ${from}`,
    )
  }
  return faults
}

/* Schemas may be functions too. */
function isStandardSchema(schema: unknown): boolean {
  if ((typeof schema !== 'object' && typeof schema !== 'function') || schema === null) return false
  const standard: unknown = (schema as Partial<Record<'~standard', unknown>>)['~standard']
  return typeof (standard as { readonly validate?: unknown } | undefined)?.validate === 'function'
}

function describe(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value.slice(0, 80)) : String(value)
}
