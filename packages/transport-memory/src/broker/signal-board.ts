/** How a broker in memory tells its clients that something happened. */
export interface SignalBoard {
  /** Something that publishers may wait for changed. */
  changed(): void
  /** Every connection is cut. */
  drop(): void
  /** The channels that consume a queue are closed. */
  closeChannels(queue: string): void
  /** Resolves at the next change, or when the signal aborts. */
  nextChange(signal: AbortSignal): Promise<void>
  /** Listens for cuts; the result stops listening. */
  onDrop(listener: () => void): () => void
  /** Listens for closed channels; the result stops listening. */
  onCloseChannels(listener: (queue: string) => void): () => void
}

/** A board without listeners. */
export function createSignalBoard(): SignalBoard {
  const waiting = new Set<() => void>()
  const dropped = new Set<() => void>()
  const closed = new Set<(queue: string) => void>()
  const changed = (): void => {
    for (const wake of [...waiting]) wake()
  }
  return {
    changed,
    drop() {
      for (const listener of [...dropped]) listener()
      changed()
    },
    closeChannels(queue) {
      for (const listener of [...closed]) listener(queue)
    },
    nextChange: (signal) =>
      new Promise((resolve) => {
        const finish = (): void => {
          waiting.delete(finish)
          signal.removeEventListener('abort', finish)
          resolve()
        }
        if (signal.aborted) {
          resolve()
          return
        }
        waiting.add(finish)
        signal.addEventListener('abort', finish, { once: true })
      }),
    onDrop(listener) {
      dropped.add(listener)
      return () => dropped.delete(listener)
    },
    onCloseChannels(listener) {
      closed.add(listener)
      return () => closed.delete(listener)
    },
  }
}
