import { describe, expect, it } from '@jest/globals'
import {
  ArgumentError,
  createContractRegistry,
  defineContract,
  encodeMessage,
  MessageContractNotRegisteredError,
  OptionsError,
  PayloadError,
  type MessageContract,
} from '../src/index.ts'

interface Order {
  readonly id: string
  readonly total: number
}
const bytes = (value: unknown): Uint8Array => new TextEncoder().encode(JSON.stringify(value))
const orderSchema: NonNullable<MessageContract<Order>['schema']> = {
  '~standard': {
    version: 1,
    vendor: 'test',
    validate: (value) => {
      const order = value as Partial<Order> | null
      return typeof order?.id === 'string' && typeof order.total === 'number'
        ? { value: { id: order.id, total: order.total } }
        : { issues: [{ message: 'secret-in-message', path: ['total', 'a@b.example'] }] }
    },
  },
}

describe('defineContract', () => {
  it.each(['', ' ', 'a b', 'ä', 'x'.repeat(201), 7 as unknown as string])('refuses the name %p', (name) => {
    expect(() => defineContract({ name, version: 1 })).toThrow(ArgumentError)
  })
  it.each([0, -1, 1.5, Number.NaN, 2 ** 31, '1' as unknown as number])(
    'refuses the version %p',
    (version) => {
      expect(() => defineContract({ name: 'a', version })).toThrow(ArgumentError)
    },
  )
  it('refuses an upcaster that lifts from the version itself', () => {
    expect(() => defineContract({ name: 'a', version: 2, upcast: { 2: (x) => x } })).toThrow(
      /versions 1 to 1/,
    )
  })
})

describe('createContractRegistry', () => {
  const v3 = defineContract<Order>({
    name: 'order-placed',
    version: 3,
    schema: orderSchema,
    upcast: {
      1: (old) => ({ ...(old as object), total: 0 }),
      2: (old) => ({ ...(old as Order), total: (old as Order).total * 100 }),
    },
  })
  const registry = createContractRegistry([v3])

  it('lifts an older version step by step and validates the result', async () => {
    const { message, contract } = await registry.decode('order-placed', 2, bytes({ id: 'o', total: 2 }))
    expect(message).toEqual({ id: 'o', total: 200 })
    expect(contract.version).toBe(3)
    expect((await registry.decode('order-placed', 1, bytes({ id: 'o' }))).message).toEqual({
      id: 'o',
      total: 0,
    })
  })
  it('refuses a newer version, and an unknown name, as not registered', async () => {
    await expect(registry.decode('order-placed', 4, bytes({}))).rejects.toThrow(
      MessageContractNotRegisteredError,
    )
    await expect(registry.decode('other', 1, bytes({}))).rejects.toThrow(MessageContractNotRegisteredError)
    await expect(registry.decode('__proto__', 1, bytes({}))).rejects.toThrow(
      MessageContractNotRegisteredError,
    )
  })
  it('names the missing upcaster instead of casting', async () => {
    const gap = createContractRegistry([defineContract({ name: 'a', version: 3, upcast: { 2: (x) => x } })])
    await expect(gap.decode('a', 1, bytes({}))).rejects.toThrow(/from version 1 to 2/)
  })
  it('refuses two contracts of one name and version', () => {
    expect(() => createContractRegistry([v3, v3])).toThrow(OptionsError)
  })
  it.each([
    ['broken JSON', new TextEncoder().encode('{"id":')],
    ['bytes that are not UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
    ['an empty body', new Uint8Array()],
    ['what the schema refuses', bytes({ id: 'o', total: 'secret-value' })],
  ])('refuses %s as a payload error that quotes nothing of it', async (_name, body) => {
    const error: unknown = await registry.decode('order-placed', 3, body).catch((thrown: unknown) => thrown)
    expect(error).toBeInstanceOf(PayloadError)
    expect((error as Error).message).not.toMatch(/secret|a@b/)
  })
  it('reads a body that is text already as it reads its bytes, a byte order mark included', async () => {
    const plain = createContractRegistry([defineContract({ name: 'plain', version: 1 })])
    const text = '\uFEFF{"name":"Žluťoučký 🐎"}'
    const fromText = await plain.decode('plain', 1, text)
    expect(fromText.message).toEqual({ name: 'Žluťoučký 🐎' })
    expect(fromText).toEqual(await plain.decode('plain', 1, new TextEncoder().encode(text)))
    await expect(plain.decode('plain', 1, '{"name":')).rejects.toThrow(PayloadError)
  })
  it('gives a serializer that reads bytes only the bytes of a text', async () => {
    const serializer = {
      contentType: 'text/plain',
      serialize: (message: unknown) => new TextEncoder().encode(String(message)),
      deserialize: (body: Uint8Array) => new TextDecoder().decode(body),
    }
    const plain = createContractRegistry([defineContract({ name: 'plain', version: 1, serializer })])
    expect((await plain.decode('plain', 1, 'žluť')).message).toBe('žluť')
  })
  it('wraps an upcaster and a schema that throw', async () => {
    const throwing = (): never => {
      throw new TypeError('null dereference')
    }
    const wrapped = createContractRegistry([
      defineContract({ name: 'up', version: 2, upcast: { 1: throwing } }),
      defineContract({
        name: 'schema',
        version: 1,
        schema: { '~standard': { version: 1, vendor: 't', validate: throwing } },
      }),
    ])
    await expect(wrapped.decode('up', 1, bytes({}))).rejects.toThrow(PayloadError)
    await expect(wrapped.decode('schema', 1, bytes({}))).rejects.toThrow(PayloadError)
  })
})

describe('encodeMessage', () => {
  const plain = defineContract<unknown>({ name: 'plain', version: 1 })
  const cycle: { self?: unknown } = {}
  cycle.self = cycle

  it.each([
    ['undefined', undefined],
    ['a bigint', 1n],
    ['a function', () => 1],
    ['a cycle', cycle],
  ])('refuses %s before anything is written', async (_name, message) => {
    await expect(encodeMessage(plain, message)).rejects.toThrow(PayloadError)
  })
  it('writes JSON in UTF-8', async () => {
    expect(new TextDecoder().decode(await encodeMessage(plain, { name: 'Žluťoučký 🐎' }))).toBe(
      '{"name":"Žluťoučký 🐎"}',
    )
  })
})
