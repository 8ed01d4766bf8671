import { spawn } from 'node:child_process'
import type { Gate, GateResult } from './gate.ts'
import { jestCounts } from './jest-counts.ts'

/** Runs gates one after the other, all of them even if one fails, and tells each result as it comes. */
export async function runGates(
  gates: readonly Gate[],
  tell: (result: GateResult) => void,
): Promise<readonly GateResult[]> {
  const results: GateResult[] = []
  for (const gate of gates) {
    const broken = (gate.needs ?? []).filter((need) =>
      results.some(({ name, failed }) => name === need && failed > 0),
    )
    const result = broken.length > 0 ? unrun(gate, broken) : await runGate(gate)
    results.push(result)
    tell(result)
  }
  return results
}

function unrun({ name }: Gate, broken: readonly string[]): GateResult {
  return {
    name,
    seconds: 0,
    passed: 0,
    failed: 1,
    output: `not run, because it needs: ${broken.join(', ')}\n`,
  }
}

async function runGate(gate: Gate): Promise<GateResult> {
  const started = performance.now()
  const { succeeded, output } = await execute(gate)
  const seconds = (performance.now() - started) / 1000
  const counts =
    gate.jestResults === undefined
      ? { passed: succeeded ? 1 : 0, failed: succeeded ? 0 : 1 }
      : await jestCounts(gate.jestResults, succeeded)
  return { name: gate.name, seconds, output, ...counts }
}

interface Execution {
  readonly succeeded: boolean
  readonly output: string
}

/* `close` and not `exit`: the output is whole only then. A program that cannot be started is a failed gate. */
function execute({ command, args, environment }: Gate): Promise<Execution> {
  return new Promise((resolve) => {
    const child = spawn(command, args, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let output = ''
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => (output += text))
    }
    child.once('error', (error) => {
      resolve({ succeeded: false, output: `expected to start ${command}, found: ${error.message}\n` })
    })
    child.once('close', (code) => {
      resolve({ succeeded: code === 0, output })
    })
  })
}
