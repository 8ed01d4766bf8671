/** How long a condition may take. Far beyond what a sound transport needs, so that slow machines do not matter. */
const patienceMs = 15_000
const pollMs = 5

/**
 * Reads a value until it satisfies a condition.
 *
 * @throws Error naming what was expected and the last value read.
 */
export async function eventually<T>(
  what: string,
  read: () => T | Promise<T>,
  { until }: { readonly until: (value: T) => boolean },
): Promise<T> {
  const deadline = performance.now() + patienceMs
  for (;;) {
    const value = await read()
    if (until(value)) return value
    if (performance.now() > deadline)
      throw new Error(`expected ${what}: found ${String(value)} at the end of ${String(patienceMs)} ms`)
    await new Promise((resolve) => setTimeout(resolve, pollMs))
  }
}
