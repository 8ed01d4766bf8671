import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from '@jest/globals'

const root = fileURLToPath(new URL('../..', import.meta.url))
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter((file) => file !== '')

/** Files and folders that a visitor finds at the root, and why nothing else is there. */
const expectedAtRoot = new Set([
  ...['.changeset', '.ci', 'benchmarks', 'docs', 'examples', 'integration-tests', 'packages', 'scripts'],
  ...['.gitattributes', '.gitignore', '.dependency-cruiser.cjs', '.prettierignore', '.prettierrc.json'],
  ...['AGENTS.md', 'CHANGELOG.md', 'CONTRIBUTING.md', 'LICENSE', 'README.md', 'SECURITY.md', 'UPGRADING.md'],
  ...['api-extractor.base.json', 'eslint.config.js', 'jest.config.js', 'knip.json', 'turbo.json'],
  ...['package.json', 'pnpm-lock.yaml', 'pnpm-workspace.yaml'],
  ...['tsconfig.base.json', 'tsconfig.json', 'tsconfig.test.json'],
])

const forbidden: readonly (readonly [what: string, pattern: RegExp])[] = [
  ['a path of a workplace', /(?<![\w.-])\/(?:work|root|home|Users)\/[\w.-]+|[A-Z]:\\Users\\/],
  ['the host of a registry', /registry\.(?:npmjs|yarnpkg|npmmirror)|npm\.pkg\.github|verdacci[o]/],
  ['an address in the lock file', /^\s+(?:resolution: \{.*)?tarball: |resolved: /m],
]
const lockFile = 'pnpm-lock.yaml'

function findForbidden(file: string, text: string): readonly string[] {
  return forbidden.flatMap(([what, pattern]) => {
    if (what === 'an address in the lock file' && file !== lockFile) return []
    const found = pattern.exec(text)?.[0]
    return found === undefined ? [] : [`${file} contains ${what}: ${found.trim()}`]
  })
}

describe('the repository', () => {
  test('contains no paths of a workplace and no hosts of registries', () => {
    const text = files.map((file) => [file, readFileSync(join(root, file), 'utf8')] as const)
    expect(text.flatMap(([file, content]) => findForbidden(file, content))).toEqual([])
  })

  test('has nothing at its root but what a visitor needs', () => {
    const atRoot = [...new Set(files.map((file) => file.split('/')[0] ?? ''))]
    expect(atRoot.filter((name) => !expectedAtRoot.has(name))).toEqual([])
  })

  test.each([
    // Put together here, so that this file may be looked at as well.
    ['a checkout', ['see ', 'work', 'litebus', 'packages'].join('/')],
    ['a home', ['', 'home', 'someone', 'litebus'].join('/')],
    ['a registry', ['https://registry', 'npmjs', 'org/pg'].join('.')],
  ])('would be refused with %s in it', (_, text) => {
    expect(findForbidden('README.md', text)).toHaveLength(1)
  })

  test('would be refused with a download address in its lock file', () => {
    expect(
      findForbidden(lockFile, '    resolution: {integrity: x, tarball: https://host/pg.tgz}'),
    ).toHaveLength(1)
  })
})
