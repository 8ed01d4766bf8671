import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'
import { findViolations } from '../architecture/find-violations.ts'
import type { PackageModel, SourceModel } from '../architecture/package-model.ts'
import { readPackages } from '../architecture/read-packages.ts'
import { readSource } from '../architecture/read-source.ts'
import { architectureRules } from '../architecture/rules.ts'

const real = await readPackages(fileURLToPath(new URL('../../packages', import.meta.url)))

function packageOf(name: string): PackageModel {
  const found = real.find((one) => one.name === name)
  if (found === undefined)
    throw new Error(`expected a package ${name}, found ${real.map((one) => one.name).join(', ')}`)
  return found
}

const standing = findViolations(real, architectureRules)

/** What a change of one of the real packages adds to the violations that stand. */
function violationsWith(name: string, change: Partial<PackageModel>): readonly string[] {
  const changed = { ...packageOf(name), ...change }
  const found = findViolations([...real.filter((one) => one.name !== name), changed], architectureRules)
  return found.filter((violation) => !standing.includes(violation))
}

function violationsOfSource(name: string, text: string, path = 'src/planted.ts'): readonly string[] {
  const planted: SourceModel = readSource(path, text)
  return violationsWith(name, path.startsWith('test/') ? { tests: [planted] } : { sources: [planted] })
}

test('the packages keep the architecture', () => {
  expect(real.length).toBeGreaterThan(0)
  expect(standing).toEqual([])
})

describe('the check of roles refuses', () => {
  test.each([undefined, 'helper'])('the role %s', (role) => {
    expect(violationsWith('@litebus/host', { role })).toContainEqual(
      expect.stringContaining('@litebus/host: expected "litebus.role"'),
    )
  })
})

describe('the check of dependencies refuses', () => {
  test.each([
    ['adapter → adapter', '@litebus/storage-postgres', '@litebus/transport-amqp'],
    ['adapter → adapter of its kind', '@litebus/transport-amqp', '@litebus/transport-memory'],
    ['outbox → inbox', '@litebus/outbox', '@litebus/inbox'],
    ['inbox → outbox', '@litebus/inbox', '@litebus/outbox'],
    ['adapter → axis', '@litebus/storage-memory', '@litebus/inbox'],
    ['core → anything', '@litebus/core', '@litebus/processing'],
    ['engine → settlement', '@litebus/processing', '@litebus/consumer'],
    ['axis bridge → axis', '@litebus/ingress', '@litebus/inbox'],
    ['lifecycle → axis', '@litebus/host', '@litebus/outbox'],
    ['test kit → adapter', '@litebus/conformance', '@litebus/storage-memory'],
  ])('%s', (_, from, to) => {
    const dependencies = [...packageOf(from).dependencies, to]
    expect(violationsWith(from, { dependencies })).toContainEqual(
      expect.stringContaining(`${from} → ${to}: a package of role`),
    )
  })

  test('what comes along through another package', () => {
    const change = { dependencies: ['@litebus/core', '@litebus/storage-memory'] }
    expect(violationsWith('@litebus/processing', change)).toContainEqual(
      expect.stringContaining(
        '@litebus/inbox → @litebus/processing → @litebus/storage-memory: a package of role "axis"',
      ),
    )
  })

  test.each([
    [
      'an SDK carried along',
      '@litebus/storage-postgres',
      { dependencies: ['@litebus/core', 'pg'] },
      'pg must be a peer dependency',
    ],
    [
      'an SDK carried along as optional',
      '@litebus/transport-amqp',
      { optionalDependencies: ['amqplib'] },
      'amqplib must be a peer',
    ],
    [
      'the SDK of another',
      '@litebus/transport-amqp',
      { peerDependencies: ['amqplib', 'pg'] },
      'pg must not be a peer dependency',
    ],
    [
      'a driver in the domain',
      '@litebus/inbox',
      { peerDependencies: ['pg'] },
      'pg must not be a peer dependency',
    ],
    [
      'a library in the domain',
      '@litebus/host',
      { dependencies: ['@litebus/core', 'lodash'] },
      'lodash must not be a dependency',
    ],
    [
      'a circuit breaker elsewhere',
      '@litebus/inbox',
      { dependencies: ['@litebus/core', 'cockatiel'] },
      'cockatiel must not be',
    ],
    [
      'two circuit breakers',
      '@litebus/outbox',
      { dependencies: ['@litebus/core', 'cockatiel', 'opossum'] },
      'one circuit-breaker library',
    ],
    [
      'a package of ours as peer',
      '@litebus/host',
      { peerDependencies: ['@litebus/core'] },
      '@litebus/core must be a dependency',
    ],
  ])('%s', (...[, name, change, sentence]) => {
    expect(violationsWith(name, change)).toContainEqual(expect.stringContaining(sentence))
  })

  test('nothing about one circuit breaker where it may be', () => {
    const dependencies = [...packageOf('@litebus/outbox').dependencies, 'cockatiel']
    expect(violationsWith('@litebus/outbox', { dependencies })).toEqual([])
  })
})

describe('the check of imports refuses', () => {
  test.each([
    ['an undeclared package', '@litebus/host', "import { x } from 'lodash'", 'found it undeclared'],
    [
      'a package declared for tests only',
      '@litebus/consumer',
      "import { x } from '@litebus/transport-memory'",
      'devDependencies only',
    ],
    ['a re-export', '@litebus/inbox', "export { x } from '@litebus/outbox'", 'found it undeclared'],
    ['a re-export of everything', '@litebus/inbox', "export * from '@litebus/outbox'", 'found it undeclared'],
    ['a dynamic import', '@litebus/inbox', "const load = () => import('pg')", '"pg" must be a dependency'],
    ['an import type', '@litebus/inbox', "export type A = import('pg').Pool", '"pg" must be a dependency'],
    ['a type-only import', '@litebus/inbox', "import type { Pool } from 'pg'", '"pg" must be a dependency'],
    ['an augmented module', '@litebus/inbox', "declare module 'pg' {}", '"pg" must be a dependency'],
    ['require', '@litebus/inbox', "const pg = require('pg')", '"pg" must be a dependency'],
    ['import =', '@litebus/inbox', "import pg = require('pg')", '"pg" must be a dependency'],
    [
      'the source of another package',
      '@litebus/inbox',
      "import '@litebus/core/src/index.ts'",
      'reaches into a package',
    ],
    [
      'the output of another package',
      '@litebus/inbox',
      "import '@litebus/core/dist/index.js'",
      'reaches into a package',
    ],
    ['a way out of the package', '@litebus/inbox', "import '../../core/src/index.ts'", 'leaves the package'],
    ['its own output', '@litebus/inbox', "import '../dist/index.js'", 'names build output'],
    [
      'I/O in the domain',
      '@litebus/inbox',
      "import 'node:fs/promises'",
      '"node:fs/promises" must not be imported',
    ],
    ['I/O without its prefix', '@litebus/inbox', "import 'net'", 'write "node:net"'],
    [
      'more than crypto in core',
      '@litebus/core',
      "import 'node:events'",
      '"node:events" must not be imported',
    ],
    [
      'code of the schema types',
      '@litebus/core',
      "import { x } from '@standard-schema/spec'",
      'only types may be used',
    ],
    [
      'top-level await',
      '@litebus/storage-postgres',
      'await Promise.resolve()',
      'must not use top-level await',
    ],
    [
      'top-level for await',
      '@litebus/storage-postgres',
      'for await (const x of []) {}',
      'must not use top-level await',
    ],
    [
      'top-level await using',
      '@litebus/storage-postgres',
      'await using x = y()',
      'must not use top-level await',
    ],
  ])('%s', (...[, name, text, sentence]) => {
    expect(violationsOfSource(name, text)).toContainEqual(expect.stringContaining(sentence))
  })

  test.each(["import '../../core/src/index.ts'", "import '@litebus/core/src/index.ts'"])(
    'in tests too: %s',
    (text) => {
      expect(violationsOfSource('@litebus/inbox', text, 'test/planted.test.ts')).toHaveLength(1)
    },
  )

  test.each([
    [
      'types of the schema specification',
      '@litebus/core',
      "import type { StandardSchemaV1 } from '@standard-schema/spec'",
    ],
    ['crypto in core', '@litebus/core', "import { randomUUID } from 'node:crypto'"],
    [
      'I/O and its own SDK in an adapter',
      '@litebus/storage-postgres',
      "import 'node:net'; import { Pool } from 'pg'",
    ],
    [
      'await within a function',
      '@litebus/inbox',
      'export const f = async () => { await 0; for await (const x of []) {} }',
    ],
  ])('nothing about %s', (_, name, text) => {
    expect(violationsOfSource(name, text)).toEqual([])
  })
})
