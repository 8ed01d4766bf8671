import { handlerFaults } from './handler-faults.ts'
import { createContractRegistry, type ContractRegistry } from '../contracts/contract-registry.ts'
import { InboxDispatchError, OptionsError } from '../errors/errors.ts'
import type { HandlerContext } from './handler-context.ts'
import type { HandlerResult } from './handler-result.ts'
import type { AnyMessageHandler, MessageHandler } from './message-handler.ts'

/** A handler with its name. */
export interface RegisteredHandler<TTransaction> extends Omit<
  MessageHandler<unknown, TTransaction>,
  'handle'
> {
  /** Does the work. */
  readonly handle: (
    message: unknown,
    context: HandlerContext<TTransaction>,
  ) => Promise<HandlerResult> | HandlerResult
  /** Name of the handler. */
  readonly name: string
}

type UnnamedHandler<TTransaction> = Omit<RegisteredHandler<TTransaction>, 'name'> & { readonly name?: string }

/** Handlers by contract. */
export interface HandlerRegistry<TTransaction> {
  /** Contracts of the handlers. */
  readonly contracts: ContractRegistry
  /** The handler of a contract. */
  find(contractName: string, contractVersion: number): RegisteredHandler<TTransaction>
}

/**
 * Builds a registry; `find` throws `InboxDispatchError` when nobody handles a contract.
 *
 * @throws OptionsError when two handlers share a contract and version, or a name, and when there is none.
 */
export function createHandlerRegistry<TTransaction>(
  handlers: readonly AnyMessageHandler<TTransaction>[],
): HandlerRegistry<TTransaction> {
  const given: unknown = handlers
  if (!Array.isArray(given)) {
    throw new OptionsError('handlers', [`expected a list of handlers, found ${typeof handlers}`])
  }
  const strangers = given.flatMap((handler: unknown, index) =>
    handlerFaults(handler).map((fault) => `${fault} (handler at place ${String(index)})`),
  )
  if (strangers.length > 0) throw new OptionsError('handlers', strangers)
  const named = (handlers as unknown as readonly UnnamedHandler<TTransaction>[]).map((handler) => ({
    ...handler,
    name: handler.name ?? handler.contract.name,
  }))
  const faults: string[] = []
  if (named.length === 0) faults.push('expected at least one handler, found none')
  const versionsByName = new Map<string, Set<string>>()
  for (const { name, contract } of named) {
    const contracts = versionsByName.get(name) ?? new Set()
    versionsByName.set(name, contracts.add(contract.name))
    if (contracts.size > 1)
      faults.push(`expected handler names that are unique, found ${name} for several contracts`)
  }
  if (faults.length > 0) throw new OptionsError('handlers', faults)
  const contracts = createContractRegistry(named.map(({ contract }) => contract))
  const byContract = new Map(named.map((handler) => [keyOf(handler.contract), handler]))
  return {
    contracts,
    find(contractName, contractVersion) {
      const handler = byContract.get(keyOf({ name: contractName, version: contractVersion }))
      if (handler !== undefined) return handler
      throw new InboxDispatchError(
        `expected a handler of contract ${contractName} version ${String(contractVersion)}, found none`,
      )
    },
  }
}

function keyOf({ name, version }: { readonly name: string; readonly version: number }): string {
  return `${name}\n${String(version)}`
}
