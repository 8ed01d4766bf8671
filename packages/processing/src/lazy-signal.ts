/** An abort signal that is made only when somebody asks for it: one for each message is not free. */
export interface LazySignal {
  /** True once aborted. */
  readonly aborted: boolean
  /** The signal. */
  readonly signal: AbortSignal
  /** Aborts it. */
  readonly abort: () => void
}

/** Starts not aborted. */
export function createLazySignal(): LazySignal {
  let controller: AbortController | undefined
  let aborted = false
  return {
    get aborted() {
      return aborted
    },
    get signal() {
      controller ??= new AbortController()
      if (aborted) controller.abort()
      return controller.signal
    },
    abort() {
      aborted = true
      controller?.abort()
    },
  }
}
