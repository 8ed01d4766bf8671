/** Resolves with the promise, or as soon as one of the signals aborts; leaves no listener behind. */
export function untilAborted(promise: Promise<unknown>, signals: readonly AbortSignal[]): Promise<void> {
  return new Promise((resolve) => {
    const finish = (): void => {
      for (const signal of signals) signal.removeEventListener('abort', finish)
      resolve()
    }
    for (const signal of signals) {
      if (signal.aborted) {
        finish()
        return
      }
      signal.addEventListener('abort', finish, { once: true })
    }
    void promise.then(finish, finish)
  })
}
