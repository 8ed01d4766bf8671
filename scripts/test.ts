/* `pnpm test`: every gate, then `N passed, N failed` alone on the last line. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allGates } from './gates/gates.ts'
import { describeResult, summarize } from './gates/report-gates.ts'
import { runGates } from './gates/run-gates.ts'

const folder = await mkdtemp(join(tmpdir(), 'litebus-test-'))
try {
  const results = await runGates(allGates(folder), (result) => process.stdout.write(describeResult(result)))
  if (results.some(({ failed }) => failed > 0)) process.exitCode = 1
  process.stdout.write(`${summarize(results)}\n`)
} finally {
  await rm(folder, { recursive: true, force: true })
}
