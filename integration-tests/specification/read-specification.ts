/** One row of the specification: a rule, and what proves it or why it is open. */
export interface SpecifiedRule {
  /** The rule, or the names of the tests that it stands for. */
  readonly rule: string
  /** Tests that prove it. */
  readonly proofs: readonly { readonly file: string; readonly title: string }[]
  /** Why nothing does yet. */
  readonly open: string | undefined
}

/**
 * Reads the tables of the specification.
 *
 * @throws Error for a row that names neither a proof nor why it is open.
 */
export function readSpecification(markdown: string): readonly SpecifiedRule[] {
  return markdown
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .map((line) =>
      line
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim()),
    )
    .filter(([first = '', second = '']) => !/^-+$/.test(first) && !/^proof\b/.test(second))
    .map(([rule = '', second = '']) => {
      const open = /^open: (?<why>.+)$/.exec(second)?.groups?.['why']
      const proofs = open === undefined ? second.split(/; (?=`)/).map(readProof) : []
      return { rule, proofs, open }
    })
}

function readProof(text: string): { readonly file: string; readonly title: string } {
  const { file, title } = /^`(?<file>[^`]+\.ts)` (?<title>.+)$/.exec(text)?.groups ?? {}
  if (file === undefined || title === undefined) {
    throw new Error(`expected \`file\` and the title of a test, or "open: why", found: ${text}`)
  }
  return { file, title }
}
