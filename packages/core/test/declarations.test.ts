import { describe, expect, it } from '@jest/globals'
import {
  ArgumentError,
  createContractRegistry,
  createHandlerRegistry,
  defineContract,
  defineHandler,
  defineTransactionalHandler,
  OptionsError,
  PayloadError,
  type MessageContract,
} from '@litebus/core'

const named = { name: 'a', version: 1 }
const schemaThat = (validate: () => unknown) => ({ '~standard': { version: 1, vendor: 'test', validate } })

describe('a contract as untyped code may write it', () => {
  it.each<readonly [string, unknown, RegExp]>([
    [
      'a misspelt schema',
      { ...named, shema: {} },
      /no option contract\.shema, there are: name, version, schema/,
    ],
    ['a schema that is none', { ...named, schema: {} }, /Standard Schema/],
    ['a function for a schema', { ...named, schema: () => true }, /Standard Schema/],
    ['null for a schema', { ...named, schema: null }, /Standard Schema/],
    ['an upcaster that is none', { name: 'a', version: 2, upcast: { 1: 'x' } }, /each a function/],
    ['a serializer that is none', { ...named, serializer: {} }, /serializer/],
    ['no object', 'a', /expected contract to be an object|object/],
  ])('with %s is refused where it is declared, and where it is given undeclared', (_, contract, fault) => {
    expect(() => defineContract(contract as MessageContract<unknown>)).toThrow(ArgumentError)
    expect(() => defineContract(contract as MessageContract<unknown>)).toThrow(fault)
    expect(() => createContractRegistry([contract as MessageContract<unknown>])).toThrow(OptionsError)
  })

  it.each([undefined, null, 5, 'ok', {}])('whose schema answers %p lets nothing pass', async (answer) => {
    const contract = { ...named, schema: schemaThat(() => answer) } as unknown as MessageContract<unknown>
    const registry = createContractRegistry([contract])
    await expect(registry.decode('a', 1, '{}')).rejects.toThrow(PayloadError)
  })

  it('takes a function that is a schema, as some libraries make them', async () => {
    const schema = Object.assign(
      () => undefined,
      schemaThat(() => ({ value: 7 })),
    )
    const contract = { ...named, schema } as unknown as MessageContract<unknown>
    expect((await createContractRegistry([contract]).decode('a', 1, '{}')).message).toBe(7)
  })
})

describe('a handler as untyped code may write it', () => {
  const contract = defineContract(named)
  const handle = (): undefined => undefined

  it.each<readonly [string, object, RegExp]>([
    ['a misspelt option', { contract, handle, transactonal: true }, /no option handler\.transactonal/],
    ['a name that is none', { contract, handle, name: 7 }, /handler\.name/],
    ['a flag that is none', { contract, handle, transactional: 'yes' }, /transactional to be true or false/],
    ['no contract', { handle }, /handler\.contract/],
    ['no function', { contract, handle: 'x' }, /handler\.handle/],
  ])('with %s is refused where it is declared, and where it is given undeclared', (_, handler, fault) => {
    for (const define of [defineHandler, defineTransactionalHandler]) {
      expect(() => define(handler as never)).toThrow(ArgumentError)
      expect(() => define(handler as never)).toThrow(fault)
    }
    expect(() => createHandlerRegistry([handler as never])).toThrow(fault)
  })
})
