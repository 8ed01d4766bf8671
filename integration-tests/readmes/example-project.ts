import { mkdir, mkdtemp, readdir, rm, symlink, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runCommand } from '../services/run-command.ts'
import type { Example } from './read-examples.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const require = createRequire(import.meta.url)

/** A project of its own that sees the packages as users do, and their sources instead of a build. */
export interface ExampleProject extends AsyncDisposable {
  /** Type-checks everything that was added, as strictly as the tests. */
  check(): Promise<void>
  /** Runs one program and returns what it printed. */
  run(name: string, env?: NodeJS.ProcessEnv): Promise<string>
  /** Adds a program. */
  add(example: Pick<Example, 'name' | 'code'>): Promise<void>
}

/** Prepares an empty project outside of the repository, whose packages it resolves. */
export async function createExampleProject(): Promise<ExampleProject> {
  const folder = await mkdtemp(join(tmpdir(), 'litebus-readmes-'))
  await linkModules(join(folder, 'node_modules'))
  await mkdir(join(folder, 'src'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      extends: join(root, 'tsconfig.test.json'),
      // A README shows what comes back without doing anything with it.
      compilerOptions: { typeRoots: [join(root, 'node_modules/@types')], noUnusedLocals: false },
      include: ['src'],
    }),
  )
  return {
    async add({ name, code }) {
      await writeFile(join(folder, 'src', `${name}.ts`), code)
    },
    async check() {
      const compiler = join(dirname(require.resolve('typescript/package.json')), 'bin/tsc')
      await runCommand(process.execPath, [compiler, '-p', folder], { cwd: folder, timeoutMs: 120_000 })
    },
    run: (name, env = {}) =>
      runCommand(process.execPath, ['--conditions=@litebus/source', join(folder, 'src', `${name}.ts`)], {
        cwd: folder,
        env: { ...process.env, NODE_OPTIONS: '--disable-warning=ExperimentalWarning', ...env },
      }),
    async [Symbol.asyncDispose]() {
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** Every package of the workspace, and the SDKs that the integration tests have. */
async function linkModules(target: string): Promise<void> {
  await mkdir(join(target, '@litebus'), { recursive: true })
  const sdks = join(root, 'integration-tests/node_modules')
  const links = [
    ...(await readdir(join(root, 'packages'))).map((name) => [
      join(root, 'packages', name),
      `@litebus/${name}`,
    ]),
    ...(await readdir(sdks))
      .filter((name) => !/^\.|^@litebus$/.test(name))
      .map((name) => [join(sdks, name), name]),
  ]
  for (const [source = '', name = ''] of links) await symlink(source, join(target, name), 'dir')
}
