import { existsSync } from 'node:fs'
import { chmod, mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { delimiter, dirname, join } from 'node:path'
import type { ConfluentKafka } from '@litebus/transport-kafka'
import { cacheFolder } from '../cache-folder.ts'
import { findProgram } from '../find-program.ts'
import { runCommand } from '../run-command.ts'
import { ServiceMissing } from '../services.ts'

/** The part of `@confluentinc/kafka-javascript` that tests use. */
export interface ConfluentPackage {
  /** Its promise interface. */
  readonly KafkaJS: { readonly Kafka: new (config: Record<string, unknown>) => ConfluentKafka }
}

const name = '@confluentinc/kafka-javascript'
const version = '1.10.1'
const builder = 'node-gyp@12.4.0'
const programs = ['npm', 'make', 'c++', 'python3'] as const

/**
 * `@confluentinc/kafka-javascript`: from the folder that `LITEBUS_CONFLUENT_KAFKA` names, else built once from its
 * source, which takes minutes; later runs find it in the cache folder of the user.
 */
export async function confluentPackage(): Promise<ConfluentPackage> {
  const folder = process.env['LITEBUS_CONFLUENT_KAFKA'] ?? (await builtPackage())
  return createRequire(join(folder, 'package.json'))(folder) as ConfluentPackage
}

async function builtPackage(): Promise<string> {
  const cache = cacheFolder()
  const target = join(cache, `confluent-kafka-javascript-${version}-node-${process.versions.node}`)
  if (!existsSync(target)) await build(cache, target)
  return packageIn(target)
}

function packageIn(folder: string): string {
  return join(folder, 'node_modules', ...name.split('/'))
}

/* Under a name of its own first: two runs may build at once, and one that dies must not leave half of it. */
async function build(cache: string, target: string): Promise<void> {
  const missing = programs.filter((program) => findProgram(program) === undefined)
  if (missing.length > 0)
    throw new ServiceMissing(
      `NOT RUN: ${name}: install ${missing.join(', ')} to build it, or name where it is installed in LITEBUS_CONFLUENT_KAFKA`,
    )
  await mkdir(cache, { recursive: true })
  const folder = await mkdtemp(join(cache, 'building-'))
  try {
    await writeFile(join(folder, 'package.json'), '{"private":true}')
    const headers = `node-${process.platform}-${process.arch}`
    const packages = [`${name}@${version}`, builder, `${headers}@${process.versions.node}`]
    // Its own script would fetch what others have built.
    await runCommand('npm', ['install', '--ignore-scripts', '--no-audit', '--no-fund', ...packages], {
      cwd: folder,
      timeoutMs: 300_000,
    })
    await runCommand(
      'nice',
      [process.execPath, join(folder, 'node_modules', 'node-gyp', 'bin', 'node-gyp.js'), 'rebuild'],
      {
        cwd: packageIn(folder),
        timeoutMs: 1_800_000,
        env: {
          ...process.env,
          PATH: [await oneJob(folder), dirname(process.execPath), process.env.PATH].join(delimiter),
          // With what the machine has instead of sources that would be fetched.
          CKJS_LINKING: 'dynamic',
          npm_config_nodedir: join(folder, 'node_modules', headers),
        },
      },
    )
    await rm(join(packageIn(folder), 'deps'), { recursive: true, force: true })
    if (!existsSync(target)) await rename(folder, target)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** A folder with a `make` that does one thing at a time: the build asks for as many jobs as there are files. */
async function oneJob(folder: string): Promise<string> {
  const programs = join(folder, 'programs')
  await mkdir(programs)
  const make = join(programs, 'make')
  await writeFile(make, `#!/bin/sh\nexec '${findProgram('make') ?? 'make'}' "$@" -j1\n`)
  await chmod(make, 0o755)
  return programs
}
