import type { GateResult } from './gate.ts'

/** What is printed when a gate has ended: one line, lines about tests that had no service, all output if it failed. */
export function describeResult({ name, seconds, passed, failed, output }: GateResult): string {
  const line = `${failed === 0 ? 'passed' : 'FAILED'}  ${name.padEnd(24)} ${seconds.toFixed(1).padStart(6)} s`
  const counts = passed + failed === 1 ? '' : `  ${String(passed)} passed, ${String(failed)} failed`
  const notRun = [...new Set(output.match(/^NOT RUN.*$/gm))].map((text) => `${text}\n`).join('')
  return `${line}${counts}\n${failed === 0 ? notRun : indent(output)}`
}

/** The last line of the test command. */
export function summarize(results: readonly GateResult[]): string {
  const sum = (part: 'passed' | 'failed'): string =>
    String(results.reduce((total, one) => total + one[part], 0))
  return `${sum('passed')} passed, ${sum('failed')} failed`
}

function indent(output: string): string {
  return output.replace(/^(?=.)/gm, '    ')
}
