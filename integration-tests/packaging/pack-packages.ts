import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../services/run-command.ts'

type Ranges = Readonly<Record<string, string>>

export interface PackedPackage {
  readonly name: string
  readonly tarball: string
  readonly dependencies: Ranges
  readonly peerDependencies: Ranges
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Packs every package of the workspace, as it would be published, into a folder. Needs a build. */
export async function packPackages(target: string): Promise<ReadonlyMap<string, PackedPackage>> {
  await runCommand(
    ...pnpm(['--recursive', '--filter', './packages/*', 'pack', '--pack-destination', target]),
    { cwd: root },
  )
  const packed = (await readdir(target))
    .filter((file) => file.endsWith('.tgz'))
    .map((file) => readPacked(join(target, file)))
  return new Map((await Promise.all(packed)).map((one) => [one.name, one]))
}

/** Names of the folders in `packages/`, each of which must have a build. */
export async function builtPackages(): Promise<readonly string[]> {
  const folders = await readdir(join(root, 'packages'))
  const names = await Promise.all(
    folders.map(async (folder) => {
      const manifest = join(root, 'packages', folder, 'package.json')
      if (!existsSync(manifest)) return []
      const { name } = JSON.parse(await readFile(manifest, 'utf8')) as { readonly name: string }
      if (existsSync(join(root, 'packages', folder, 'dist/index.js'))) return [name]
      throw new Error(`expected packages/${folder}/dist/index.js, found none: run \`pnpm build\` first`)
    }),
  )
  return names.flat().sort()
}

async function readPacked(tarball: string): Promise<PackedPackage> {
  const manifest = JSON.parse(await runCommand('tar', ['-xOf', tarball, 'package/package.json'])) as {
    readonly name: string
    readonly dependencies?: Ranges
    readonly peerDependencies?: Ranges
  }
  const { name, dependencies = {}, peerDependencies = {} } = manifest
  return { name, tarball, dependencies, peerDependencies }
}

/* Within a pnpm script the running pnpm is known; elsewhere npx fetches or finds it. */
function pnpm(args: readonly string[]): [command: string, args: readonly string[]] {
  const running = process.env.npm_execpath
  if (running === undefined || !running.includes('pnpm')) return ['npx', ['--yes', 'pnpm@12', ...args]]
  return /\.[cm]?js$/.test(running) ? [process.execPath, [running, ...args]] : [running, args]
}
