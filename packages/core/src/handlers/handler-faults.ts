import { optionFaults, type OptionShape } from '../options/read-options.ts'
import type { MessageHandler } from './message-handler.ts'

const shape: OptionShape<MessageHandler<unknown>> = {
  contract: 'object',
  name: 'text?',
  transactional: 'any?',
  handle: 'function',
}

/** Names what is wrong with a handler, whoever made it: one that is misspelt would run, and not as it was meant. */
export function handlerFaults(given: unknown): readonly string[] {
  const faults = optionFaults('handler.', given as MessageHandler<unknown>, { shape })
  if (faults.length > 0) return faults
  const { transactional } = given as { readonly transactional?: unknown }
  return transactional === undefined || typeof transactional === 'boolean'
    ? []
    : [`expected handler.transactional to be true or false, found ${typeof transactional}`]
}
