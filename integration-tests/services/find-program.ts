import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

/** Path of a program in PATH; `undefined` where there is none. */
export function findProgram(program: string): string | undefined {
  return (process.env.PATH ?? '')
    .split(delimiter)
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path))
}
