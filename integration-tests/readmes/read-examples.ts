import { readFile } from 'node:fs/promises'

/** One block of TypeScript in a README. */
export interface Example {
  /** Name of its file: the README and the position of the block. */
  readonly name: string
  /** The code. */
  readonly code: string
  /** Whether it is marked as runnable. */
  readonly runnable: boolean
  /** What it must print, where the next block says so. */
  readonly output: string | undefined
}

const fence = /^```(\S+)[ \t]*([^\n]*)\n([\s\S]*?)^```[ \t]*$/gm

/**
 * The blocks of a README. A block of language `ts` is type-checked; with `ts runnable` it is executed as well, and a
 * block `text output` behind it is what it must print.
 */
export async function readExamples(file: string, label: string): Promise<readonly Example[]> {
  const text = await readFile(file, 'utf8')
  const blocks = [...text.matchAll(fence)].map(([, language = '', info = '', code = '']) => ({
    kind: `${language} ${info}`.trim(),
    code,
  }))
  return blocks.flatMap(({ kind, code }, index) => {
    if (kind !== 'ts' && kind !== 'ts runnable') return []
    const next = blocks[index + 1]
    return {
      name: `${label}-${String(index + 1)}`,
      code,
      runnable: kind === 'ts runnable',
      output: next?.kind === 'text output' ? next.code : undefined,
    }
  })
}
