/** An abort signal that is made only when somebody asks for it: one for each message is not free. */
export class LazySignal {
  #controller: AbortController | undefined
  #aborted = false

  /** True once aborted. */
  get aborted(): boolean {
    return this.#aborted
  }

  /** The signal. */
  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted) this.#controller.abort()
    return this.#controller.signal
  }

  /** Aborts it, also when nobody has asked for it yet. */
  abort(): void {
    this.#aborted = true
    this.#controller?.abort()
  }
}
