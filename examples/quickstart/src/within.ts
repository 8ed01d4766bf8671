/**
 * Waits for something that has to come within a limit.
 *
 * @throws Error naming what was expected, when it did not come in time.
 */
export async function within<T>(limitMs: number, expectation: string, work: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => {
    reject(new Error(`expected ${expectation} within ${String(limitMs / 1000)} s`))
  }, limitMs)
  try {
    return await Promise.race([work, late])
  } finally {
    clearTimeout(timer)
  }
}
