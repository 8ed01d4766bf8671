import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** Names of all that an install put into `node_modules`, nested ones included. */
export async function installedPackages(folder: string): Promise<readonly string[]> {
  const modules = join(folder, 'node_modules')
  if (!existsSync(modules)) return []
  const names = (await readdir(modules)).filter((name) => !name.startsWith('.'))
  const expanded = await Promise.all(
    names.map(async (name) =>
      name.startsWith('@') ? (await readdir(join(modules, name))).map((inner) => `${name}/${inner}`) : [name],
    ),
  )
  const direct = expanded.flat()
  const nested = await Promise.all(direct.map((name) => installedPackages(join(modules, name))))
  return [...new Set([...direct, ...nested.flat()])].sort()
}

/** What SDKs bring along themselves, which is theirs to answer for; themselves included. */
export async function broughtBy(folder: string, sdks: readonly string[]): Promise<ReadonlySet<string>> {
  const found = new Set<string>()
  const walk = async (name: string): Promise<void> => {
    const manifest = join(folder, 'node_modules', name, 'package.json')
    if (found.has(name) || !existsSync(manifest)) return
    found.add(name)
    const {
      dependencies = {},
      optionalDependencies = {},
      peerDependencies = {},
    } = JSON.parse(await readFile(manifest, 'utf8')) as Readonly<
      Partial<Record<'dependencies' | 'optionalDependencies' | 'peerDependencies', Record<string, string>>>
    >
    for (const next of Object.keys({ ...dependencies, ...optionalDependencies, ...peerDependencies }))
      await walk(next)
  }
  for (const sdk of sdks) await walk(sdk)
  return found
}
