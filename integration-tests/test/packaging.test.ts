import { mkdtemp, rm } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import { checkTypes, compilers, prepareTypeCheck } from '../packaging/check-types.ts'
import { closure, installConsumer } from '../packaging/install-consumer.ts'
import { broughtBy, installedPackages } from '../packaging/installed-packages.ts'
import { exportsByImport, exportsByRequire } from '../packaging/load-package.ts'
import { builtPackages, packPackages, type PackedPackage } from '../packaging/pack-packages.ts'

const names = await builtPackages()
const node22 = join(dirname(createRequire(import.meta.url).resolve('node-22/package.json')), 'bin/node')
const adapterTypes = ['@types/node', '@types/pg']
/* Libraries that a package uses inside, none of them an SDK. A new one is a decision, and is written down here. */
const libraries: ReadonlyMap<string, readonly string[]> = new Map([['@litebus/outbox', ['cockatiel']]])

let work: string
let packed: ReadonlyMap<string, PackedPackage>

beforeAll(async () => {
  work = await mkdtemp(join(tmpdir(), 'litebus-packaging-'))
  packed = await packPackages(work)
  await prepareTypeCheck(work, adapterTypes)
}, 120_000)

afterAll(async () => {
  await rm(work, { recursive: true, force: true })
})

function consumerOf(name: string): string {
  return join(work, name.replace('@litebus/', ''))
}

test('every package of the workspace is packed', () => {
  expect([...packed.keys()].sort()).toEqual(names)
})

describe.each(names)('%s from its tarball', (name) => {
  beforeAll(() => installConsumer({ folder: consumerOf(name), names: [name], packed }), 120_000)

  test('pulls in nothing but packages of ours, the libraries that they are known to use, and its own SDK', async () => {
    const ours = closure([name], packed)
    const sdks = ours.flatMap((one) => Object.keys(one.peerDependencies)).filter((peer) => !packed.has(peer))
    const allowed = new Set([
      ...ours.flatMap((one) => [one.name, ...(libraries.get(one.name) ?? [])]),
      '@standard-schema/spec',
      ...(await broughtBy(consumerOf(name), sdks)),
    ])
    expect((await installedPackages(consumerOf(name))).filter((found) => !allowed.has(found))).toEqual([])
    expect(sdks).toEqual(Object.keys(packed.get(name)?.peerDependencies ?? {}))
  })

  test.each([
    ['24', process.execPath],
    ['22.12', node22],
  ])('offers the same names to import and to require on Node %s', async (_, node) => {
    const request = { node, folder: consumerOf(name), name }
    const imported = await exportsByImport(request)
    expect(await exportsByRequire(request)).toEqual(imported)
  })
})

describe('all packages', () => {
  beforeAll(() => installConsumer({ folder: consumerOf('all'), names, packed }), 120_000)

  test('load together in one project as they do alone', async () => {
    const node = process.execPath
    for (const name of names) {
      const together = await exportsByImport({ node, folder: consumerOf('all'), name })
      expect(together).toEqual(await exportsByImport({ node, folder: consumerOf(name), name }))
    }
  }, 60_000)

  test.each(compilers)(
    'have strict types for %s, each alone and together',
    async (compiler) => {
      expect(await checkTypes(work, compiler)).toBe(2 * (names.length + 1))
    },
    120_000,
  )
})
