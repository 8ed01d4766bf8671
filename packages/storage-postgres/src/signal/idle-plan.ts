/**
 * How long a processor that finds nothing waits, step by step. It asks for notifications only when it has been idle
 * for 20 ms, because a notification costs every commit a global lock. After that it looks again soon: a write that
 * began before it asked may commit after it looked.
 */
const idleSteps: readonly { readonly waitMs: number; readonly asksBefore: boolean }[] = Object.freeze([
  { waitMs: 20, asksBefore: false },
  { waitMs: 5, asksBefore: true },
  { waitMs: 20, asksBefore: true },
  { waitMs: 80, asksBefore: true },
  { waitMs: 320, asksBefore: true },
])

/** Where an idle processor is. */
export class IdlePlan {
  #step = 0

  /** Work was found. */
  reset(): void {
    this.#step = 0
  }

  /** A wait has run its time: nothing happened. One that was cut short is taken again. */
  advance(): void {
    this.#step = Math.min(this.#step + 1, idleSteps.length)
  }

  /** The wait to take now, and whether to ask for notifications before it. */
  current(maxWaitMs: number): { readonly waitMs: number; readonly asksBefore: boolean } {
    const step = idleSteps[this.#step]
    if (step === undefined) return { waitMs: maxWaitMs, asksBefore: true }
    return { waitMs: Math.min(step.waitMs, maxWaitMs), asksBefore: step.asksBefore }
  }
}
