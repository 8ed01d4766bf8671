import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, test } from '@jest/globals'
import { readSpecification } from '../specification/read-specification.ts'

const root = new URL('../../', import.meta.url)
const rules = readSpecification(await readFile(new URL('docs/reference/specification.md', root), 'utf8'))

test('the specification names a proof, or why there is none, for every rule', () => {
  expect(rules.length).toBeGreaterThan(60)
  expect(rules.filter(({ proofs, open }) => proofs.length === 0 && open === undefined)).toEqual([])
})

test('every proof is a test that exists', async () => {
  const missing: string[] = []
  const sources = new Map<string, string>()
  for (const { file, title } of rules.flatMap(({ proofs }) => proofs)) {
    const source = sources.get(file) ?? (await readFile(fileURLToPath(new URL(file, root)), 'utf8'))
    sources.set(file, source)
    const quoted = ["'", '`', '"'].some((quote) => source.includes(`${quote}${title}${quote}`))
    if (!quoted) missing.push(`${file}: ${title}`)
  }
  expect(missing).toEqual([])
})

test('a row without a proof is refused', () => {
  expect(() => readSpecification('| a rule | some test |')).toThrow(/expected `file` and the title/)
  expect(readSpecification('| a rule | open: later |')).toEqual([
    { rule: 'a rule', proofs: [], open: 'later' },
  ])
})
