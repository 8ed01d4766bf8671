/** Owns what a case opens; everything is disposed in reverse order when the case ends, also when it fails. */
export interface Scope {
  /** Disposes `resource` when the case ends, and hands it through. */
  use<T extends AsyncDisposable>(resource: T): T
  /** Runs `dispose` when the case ends. */
  defer(dispose: () => Promise<void> | void): void
}

/** Runs `work` with a scope of its own; what fails in `work` comes before what fails in disposal. */
export async function withScope(work: (scope: Scope) => Promise<void>): Promise<void> {
  const disposers: (() => Promise<void> | void)[] = []
  const faults: unknown[] = []
  try {
    await work({
      use: (resource) => {
        disposers.push(async () => {
          await resource[Symbol.asyncDispose]()
        })
        return resource
      },
      defer: (dispose) => {
        disposers.push(dispose)
      },
    })
  } catch (error) {
    faults.push(error)
  }
  for (const dispose of disposers.reverse()) {
    try {
      await dispose()
    } catch (error) {
      faults.push(error)
    }
  }
  if (faults.length === 1) throw faults[0]
  if (faults.length > 1)
    throw new AggregateError(faults, 'the case failed, and so did disposing of what it opened')
}
