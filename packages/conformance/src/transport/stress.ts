import type { TransportCase } from './support/define.ts'
import { stressCases } from './cases/stress.ts'

const copies = 3

/** Every case several times at once, each copy with destinations of its own, and the long cases. */
export function stressed(cases: readonly TransportCase[]): readonly TransportCase[] {
  return [
    ...cases.map((entry) => ({
      ...entry,
      title: `${entry.title}, ${String(copies)} times at once`,
      timeoutMs: (entry.timeoutMs ?? 30_000) * copies,
      run: async (...[fixture, scope]: Parameters<TransportCase['run']>) => {
        await Promise.all(Array.from({ length: copies }, () => entry.run(fixture, scope)))
      },
    })),
    ...stressCases,
  ]
}
