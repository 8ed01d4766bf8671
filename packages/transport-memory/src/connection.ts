import type { ResolvedMemoryOptions } from './options.ts'

/** The one connection of a memory transport. */
export interface MemoryConnection {
  /** Aborts when this connection is gone; undefined while there is none. */
  current(): AbortSignal | undefined
  /** True once closed by its owner. */
  readonly closed: boolean
  /** Listens for every opened connection; the result stops listening. */
  onOpen(listener: (lost: AbortSignal) => void): () => void
  /** Cuts it for good. */
  close(): void
}

/** Connects at once and again after every cut, for ever. */
export function createMemoryConnection(options: ResolvedMemoryOptions): MemoryConnection {
  const { internals } = options.broker
  const { clock, board } = internals
  const listeners = new Set<(lost: AbortSignal) => void>()
  let generation: AbortController | undefined
  let closed = false

  const connect = (): void => {
    if (closed || generation !== undefined) return
    if (!internals.reachable()) {
      clock.schedule(Math.max(1, options.reconnectDelayMs), connect)
      return
    }
    generation = new AbortController()
    for (const listener of [...listeners]) listener(generation.signal)
  }
  const cut = (): void => {
    const lost = generation
    generation = undefined
    lost?.abort()
  }
  const stopListening = board.onDrop(() => {
    cut()
    clock.schedule(options.reconnectDelayMs, connect)
  })
  connect()

  return {
    current: () => generation?.signal,
    get closed() {
      return closed
    },
    onOpen(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    close() {
      closed = true
      stopListening()
      cut()
    },
  }
}
