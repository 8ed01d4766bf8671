import { withScope, type Scope } from './scope.ts'

/** One promise of a port, as a test. */
export interface ConformanceCase<TFixture, TCapabilities> {
  /** Which concern of the port it belongs to; one file each. */
  readonly concern: string
  /** A sentence about behaviour, unique within the suite. */
  readonly title: string
  /** Names the capability that the case needs; absent: every adapter must pass. */
  readonly needs?: { readonly capability: string; readonly met: (capabilities: TCapabilities) => boolean }
  /** Longest run in milliseconds. @defaultValue 30 000 */
  readonly timeoutMs?: number
  /** Asserts by throwing. */
  run(fixture: TFixture, scope: Scope): Promise<void>
}

/** A case bound to an adapter: what a test runner registers. */
export interface BoundCase {
  /** Concern and sentence. */
  readonly title: string
  /** Longest run in milliseconds. */
  readonly timeoutMs: number
  /** Opens a fixture, runs, disposes; rejects when the adapter breaks the promise. */
  readonly run: () => Promise<void>
}

/** A suite bound to an adapter. */
export interface BoundSuite {
  /** Port and adapter. */
  readonly name: string
  /** Cases that this adapter must pass. */
  readonly cases: readonly BoundCase[]
  /** Cases that its declared capabilities rule out, with the capability that is missing. */
  readonly ruledOut: readonly { readonly title: string; readonly capability: string }[]
}

/** How an adapter joins a suite. */
export interface SuiteBinding<TFixture, TCapabilities> {
  /** Name of the adapter in the output. */
  readonly adapter: string
  /** What the adapter itself declares. */
  readonly capabilities: TCapabilities
  /** Opens a fresh, isolated fixture; the scope disposes of it. */
  readonly open: (scope: Scope) => Promise<TFixture>
}

/** Binds cases to an adapter: what the declaration rules out is listed, never silently skipped. */
export function bindSuite<TFixture, TCapabilities>(
  port: string,
  cases: readonly ConformanceCase<TFixture, TCapabilities>[],
  binding: SuiteBinding<TFixture, TCapabilities>,
): BoundSuite {
  const titles = new Set<string>()
  for (const { title } of cases) {
    if (titles.has(title))
      throw new Error(`expected unique titles in the ${port} suite, found twice: ${title}`)
    titles.add(title)
  }
  const applicable = cases.filter((entry) => entry.needs?.met(binding.capabilities) ?? true)
  return {
    name: `${port} conformance: ${binding.adapter}`,
    cases: applicable.map((entry) => ({
      title: `${entry.concern}: ${entry.title}`,
      timeoutMs: entry.timeoutMs ?? 30_000,
      run: () => withScope(async (scope) => entry.run(await binding.open(scope), scope)),
    })),
    ruledOut: cases.flatMap((entry) =>
      entry.needs === undefined || applicable.includes(entry)
        ? []
        : [{ title: `${entry.concern}: ${entry.title}`, capability: entry.needs.capability }],
    ),
  }
}

/** The two functions of a test runner that a suite needs; Jest, Vitest, Mocha and `node:test` have them. */
export interface TestRunner {
  /** Groups tests. */
  readonly describe: (name: string, define: () => void) => unknown
  /** Registers a test. */
  readonly it: (name: string, run: () => Promise<void>, timeoutMs?: number) => unknown
}

/** Registers a bound suite with a test runner. */
export function registerSuite(suite: BoundSuite, runner: TestRunner): void {
  runner.describe(suite.name, () => {
    for (const entry of suite.cases) runner.it(entry.title, entry.run, entry.timeoutMs)
  })
}
