import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { runCommand } from '../services/run-command.ts'
import type { PackedPackage } from './pack-packages.ts'

export interface ConsumerRequest {
  readonly folder: string
  /** The packages that the consumer asks for. */
  readonly names: readonly string[]
  readonly packed: ReadonlyMap<string, PackedPackage>
}

/**
 * Makes a project that has the packages from their tarballs, with those of their own declared dependencies: nothing of
 * ours can come from a registry or from the workspace.
 */
export async function installConsumer({ folder, names, packed }: ConsumerRequest): Promise<void> {
  await mkdir(folder, { recursive: true })
  const dependencies = Object.fromEntries(
    closure(names, packed).map(({ name, tarball }) => [name, `file:${tarball}`]),
  )
  await writeFile(
    join(folder, 'package.json'),
    JSON.stringify({ private: true, type: 'module', dependencies }),
  )
  await writeFile(join(folder, 'consumer.mts'), names.map(esmConsumer).join(''))
  await writeFile(join(folder, 'consumer.cts'), names.map(cjsConsumer).join(''))
  await runCommand('npm', ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline'], {
    cwd: folder,
    timeoutMs: 120_000,
  })
}

/** A package with everything of ours that it declares, directly or through another. */
export function closure(
  names: readonly string[],
  packed: ReadonlyMap<string, PackedPackage>,
): readonly PackedPackage[] {
  const found = new Map<string, PackedPackage>()
  const walk = (name: string): void => {
    const one = packed.get(name)
    if (one === undefined || found.has(name)) return
    found.set(name, one)
    for (const next of Object.keys({ ...one.dependencies, ...one.peerDependencies })) walk(next)
  }
  names.forEach(walk)
  return [...found.values()]
}

function esmConsumer(name: string, index: number): string {
  const local = `m${String(index)}`
  return `import * as ${local} from '${name}'\nconsole.log(Object.keys(${local}))\n`
}

function cjsConsumer(name: string, index: number): string {
  const local = `m${String(index)}`
  return `import ${local} = require('${name}')\nconsole.log(Object.keys(${local}))\n`
}
