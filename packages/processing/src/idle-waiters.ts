/** Waits for a condition that others announce. */
export interface IdleWaiters {
  /** Resolves as soon as the condition holds at a release, at once when it holds now. */
  wait(condition: () => boolean): Promise<void>
  /** Lets everybody look at their conditions. */
  release(): void
}

/** Starts with nobody waiting. */
export function createIdleWaiters(): IdleWaiters {
  let waiters: { readonly condition: () => boolean; readonly resolve: () => void }[] = []
  return {
    wait(condition) {
      if (condition()) return Promise.resolve()
      return new Promise((resolve) => {
        waiters.push({ condition, resolve })
      })
    },
    release() {
      const left = waiters.filter(({ condition }) => !condition())
      const served = waiters.filter((waiter) => !left.includes(waiter))
      waiters = left
      for (const { resolve } of served) resolve()
    },
  }
}
