import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals'
import type { Gate, GateResult } from '../../scripts/gates/gate.ts'
import { describeResult, summarize } from '../../scripts/gates/report-gates.ts'
import { runGates } from '../../scripts/gates/run-gates.ts'

let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'litebus-gates-'))
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
})

function gate(name: string, code: string, more: Partial<Gate> = {}): Gate {
  return {
    name,
    command: process.execPath,
    args: ['--eval', code],
    environment: { NODE_OPTIONS: '' },
    ...more,
  }
}

async function run(...gates: readonly Gate[]): Promise<readonly GateResult[]> {
  const told: GateResult[] = []
  const results = await runGates(gates, (result) => told.push(result))
  expect(told).toEqual(results)
  return results
}

const pass = gate('pass', '')
const fail = gate('fail', 'console.log("seen"); console.error("why"); process.exit(3)')

describe('the runner of the gates', () => {
  test('runs all gates and sums them up, whichever fails', async () => {
    const results = await run(fail, pass, gate('pass too', ''))
    expect(results.map(({ failed }) => failed)).toEqual([1, 0, 0])
    expect(summarize(results)).toBe('2 passed, 1 failed')
  })

  test('shows both outputs of a gate that failed', async () => {
    const [result] = await run(fail)
    if (result === undefined) throw new Error('expected one result')
    expect(describeResult(result)).toMatch(/^FAILED {2}fail .* s\n(?: {4}(?:seen|why)\n){2}$/)
  })

  test('shows of a gate that passed only what was not run', async () => {
    const [result] = await run(
      gate('pass', 'console.log("fine"); console.error("NOT RUN: Kafka: set KAFKA_URL")'),
    )
    if (result === undefined) throw new Error('expected one result')
    expect(describeResult(result)).toMatch(/^passed {2}pass .* s\nNOT RUN: Kafka: set KAFKA_URL\n$/)
  })

  test('counts a gate as failed whose need failed, without running it', async () => {
    const results = await run(fail, { ...pass, needs: ['fail'] })
    expect(results[1]).toMatchObject({ passed: 0, failed: 1, output: 'not run, because it needs: fail\n' })
  })

  test('counts a program that is not there as a failed gate', async () => {
    const [result] = await run({ name: 'gone', command: join(folder, 'no-such-program'), args: [] })
    expect(result).toMatchObject({ passed: 0, failed: 1 })
  })

  const none = {
    numPassedTests: 0,
    numFailedTests: 0,
    numPendingTests: 0,
    numTodoTests: 0,
    numRuntimeErrorTestSuites: 0,
  }
  test.each([
    ['its tests', { ...none, numPassedTests: 7, numFailedTests: 2 }, 1, '7 passed, 2 failed'],
    [
      'a file that broke',
      { ...none, numPassedTests: 7, numRuntimeErrorTestSuites: 1 },
      1,
      '7 passed, 1 failed',
    ],
    [
      'tests left out',
      { ...none, numPassedTests: 7, numPendingTests: 1, numTodoTests: 1 },
      0,
      '7 passed, 2 failed',
    ],
    ['a failure outside of tests', { ...none, numPassedTests: 7 }, 1, '7 passed, 1 failed'],
    ['no test at all', none, 0, '0 passed, 1 failed'],
    ['no result at all', undefined, 0, '0 passed, 1 failed'],
  ])('counts of Jest %s', async (...[title, results, code, summary]) => {
    const jestResults = join(folder, `${title}.json`)
    if (results !== undefined) await writeFile(jestResults, JSON.stringify(results))
    expect(summarize(await run(gate('jest', `process.exit(${String(code)})`, { jestResults })))).toBe(summary)
  })
})
