import type { BoundCase } from '../frame/suite.ts'

const copies = 3

/** A case three times at once, each copy with a fixture of its own: faults of one do not reach the others. */
export function stressed(entry: BoundCase): BoundCase {
  return {
    title: `${entry.title}, ${String(copies)} times at once`,
    timeoutMs: entry.timeoutMs * copies,
    run: async () => {
      await Promise.all(Array.from({ length: copies }, () => entry.run()))
    },
  }
}
