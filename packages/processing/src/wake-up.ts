/** Wakes one waiting loop; a wake that comes while nobody waits is kept for the next wait. */
export interface WakeUp {
  /** Ends the current wait, or the next one at once. */
  wake(): void
  /** Resolves on a wake, or when the signal aborts. */
  wait(signal: AbortSignal): Promise<void>
  /** A signal for the wait of something else: it aborts on a wake, or with the given signal. */
  during<T>(signal: AbortSignal, wait: (signal: AbortSignal) => Promise<T>): Promise<T>
}

/** One for all of them: an abort without a reason builds an error with its stack. */
const woken = new DOMException('something else is to be done', 'AbortError')

/** Starts asleep. */
export function createWakeUp(): WakeUp {
  let kept = false
  let onWake: (() => void) | undefined
  const during: WakeUp['during'] = async (signal, wait) => {
    const controller = new AbortController()
    // Once: many rows may end before the wait does.
    const end = (): void => {
      kept = false
      if (!controller.signal.aborted) controller.abort(woken)
    }
    onWake = end
    signal.addEventListener('abort', end, { once: true })
    if (kept || signal.aborted) end()
    try {
      return await wait(controller.signal)
    } finally {
      onWake = undefined
      signal.removeEventListener('abort', end)
    }
  }
  return {
    wake() {
      kept = true
      onWake?.()
    },
    wait: (signal) =>
      during(
        signal,
        (ended) =>
          new Promise<void>((resolve) => {
            if (ended.aborted) resolve()
            else
              ended.addEventListener(
                'abort',
                () => {
                  resolve()
                },
                { once: true },
              )
          }),
      ),
    during,
  }
}
