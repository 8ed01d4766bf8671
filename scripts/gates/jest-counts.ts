import { readFile } from 'node:fs/promises'

interface JestResults {
  readonly numPassedTests: number
  readonly numFailedTests: number
  readonly numPendingTests: number
  readonly numTodoTests: number
  readonly numRuntimeErrorTestSuites: number
}

export interface Counts {
  readonly passed: number
  readonly failed: number
}

/**
 * Counts from Jest's results. A file that broke before its tests counts as a failure, and so does a test left out,
 * because nothing is skipped here. A failed run without a failed test is one failure, as is a run without results.
 */
export async function jestCounts(file: string, succeeded: boolean): Promise<Counts> {
  let results: JestResults
  try {
    results = JSON.parse(await readFile(file, 'utf8')) as JestResults
  } catch {
    return { passed: 0, failed: 1 }
  }
  const { numFailedTests, numPendingTests, numTodoTests, numRuntimeErrorTestSuites } = results
  const failed = numFailedTests + numPendingTests + numTodoTests + numRuntimeErrorTestSuites
  const nothingRan = results.numPassedTests + failed === 0
  return { passed: results.numPassedTests, failed: failed === 0 && (!succeeded || nothingRan) ? 1 : failed }
}
