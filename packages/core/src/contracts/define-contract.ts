import { ArgumentError } from '../errors/errors.ts'
import { contractFaults } from './contract-faults.ts'
import type { MessageContract } from './message-contract.ts'

/**
 * Declares a contract; the type of the message comes from the schema or from the type argument.
 *
 * @throws ArgumentError naming every fault: a name or version that is not valid, an option that does not exist, a schema,
 * upcaster or serializer that is none.
 */
export function defineContract<T>(contract: MessageContract<T>): MessageContract<T> {
  const faults = contractFaults(contract)
  if (faults.length > 0) throw new ArgumentError(faults.join('; '))
  return Object.freeze({ ...contract })
}
