import { runCommand } from '../services/run-command.ts'

export interface LoadRequest {
  /** The Node program to load with. */
  readonly node: string
  readonly folder: string
  readonly name: string
}

/** Names of what a package exports to `import`. */
export async function exportsByImport({ node, folder, name }: LoadRequest): Promise<readonly string[]> {
  const code = `console.log(JSON.stringify(Object.keys(await import('${name}')).sort()))`
  return parse(await run({ node, folder, name }, ['--input-type=module', '--eval', code]))
}

/** Names of what a package exports to `require`; Node adds `__esModule` only beside a default export. */
export async function exportsByRequire({ node, folder, name }: LoadRequest): Promise<readonly string[]> {
  const code = `console.log(JSON.stringify(Object.keys(require('${name}')).sort()))`
  return parse(await run({ node, folder, name }, ['--input-type=commonjs', '--eval', code]))
}

function run({ node, folder }: LoadRequest, args: readonly string[]): Promise<string> {
  return runCommand(node, args, { cwd: folder, env: { PATH: process.env.PATH } })
}

function parse(output: string): readonly string[] {
  return JSON.parse(output) as readonly string[]
}
