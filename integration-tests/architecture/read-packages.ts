import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { join, relative } from 'node:path'
import type { PackageModel, SourceModel } from './package-model.ts'
import { readSource } from './read-source.ts'

type Names = Readonly<Record<string, string>>

interface Manifest {
  readonly name: string
  readonly litebus?: { readonly role?: string }
  readonly dependencies?: Names
  readonly optionalDependencies?: Names
  readonly peerDependencies?: Names
  readonly devDependencies?: Names
}

/** Reads every folder of `packages/`, with the package.json and the TypeScript of each. */
export async function readPackages(root: string): Promise<readonly PackageModel[]> {
  const entries = await readdir(root, { withFileTypes: true })
  const folders = entries.filter((entry) => entry.isDirectory()).map((entry) => join(root, entry.name))
  return Promise.all(folders.filter((folder) => existsSync(join(folder, 'package.json'))).map(readPackage))
}

async function readPackage(folder: string): Promise<PackageModel> {
  const manifest = JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest
  return {
    name: manifest.name,
    role: manifest.litebus?.role,
    dependencies: Object.keys(manifest.dependencies ?? {}),
    optionalDependencies: Object.keys(manifest.optionalDependencies ?? {}),
    peerDependencies: Object.keys(manifest.peerDependencies ?? {}),
    devDependencies: Object.keys(manifest.devDependencies ?? {}),
    sources: await readSources(folder, 'src'),
    tests: await readSources(folder, 'test'),
  }
}

async function readSources(folder: string, part: string): Promise<readonly SourceModel[]> {
  const root = join(folder, part)
  if (!existsSync(root)) return []
  const entries = await readdir(root, { recursive: true, withFileTypes: true })
  const files = entries.filter((entry) => entry.isFile() && /\.[cm]?ts$/.test(entry.name))
  return Promise.all(
    files.map(async (entry) => {
      const path = join(entry.parentPath, entry.name)
      return readSource(relative(folder, path), await readFile(path, 'utf8'))
    }),
  )
}
