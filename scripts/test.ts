/* `pnpm test`: every gate, then `N passed, N failed` alone on the last line. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { allGates } from './gates/gates.ts'
import { describeResult, summarize } from './gates/report-gates.ts'
import { runGates } from './gates/run-gates.ts'

const folder = mkdtempSync(join(tmpdir(), 'litebus-test-'))
process.once('exit', () => {
  rmSync(folder, { recursive: true, force: true })
})
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => process.exit(1))

const results = await runGates(allGates(folder), (result) => process.stdout.write(describeResult(result)))
if (results.some(({ failed }) => failed > 0)) process.exitCode = 1
process.stdout.write(`${summarize(results)}\n`)
