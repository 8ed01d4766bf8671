import { mkdir, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { runCommand } from '../services/run-command.ts'

const require = createRequire(import.meta.url)

/** Compilers that users have, by the name under which this package has them. Called by path: none is in `.bin`. */
export const compilers: readonly string[] = ['typescript-5.8', 'typescript', 'typescript-7']

const strict = {
  target: 'es2023',
  lib: ['es2023'],
  module: 'nodenext',
  types: ['node'],
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  noPropertyAccessFromIndexSignature: true,
  verbatimModuleSyntax: true,
  skipLibCheck: false,
  noEmit: true,
}

/**
 * Prepares a folder above consumers for type-checking. The types of Node and of the SDKs lie beside the consumers and
 * not in them, so that what is installed in each stays what its package pulls in.
 */
export async function prepareTypeCheck(folder: string, typePackages: readonly string[]): Promise<void> {
  await mkdir(join(folder, 'node_modules/@types'), { recursive: true })
  for (const name of typePackages) {
    const source = dirname(require.resolve(`${name}/package.json`))
    await symlink(source, join(folder, 'node_modules', name), 'dir')
  }
  const include = ['*/consumer.mts', '*/consumer.cts']
  await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions: strict, include }))
}

/** Type-checks all consumers in a folder, declaration files of the packages included, and returns how many it saw. */
export async function checkTypes(folder: string, compiler: string): Promise<number> {
  const program = join(dirname(require.resolve(`${compiler}/package.json`)), 'bin/tsc')
  const args = [program, '-p', folder, '--listFiles']
  const seen = await runCommand(process.execPath, args, { cwd: folder, timeoutMs: 120_000 })
  return seen.split('\n').filter((file) => /\/consumer\.[cm]ts$/.test(file)).length
}
