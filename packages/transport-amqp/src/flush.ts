import { sleep, type Clock } from '@litebus/core'
import type { OpenConnection } from './connection.ts'
import { socketIsFlushed } from './socket.ts'

/** Waits until frames written to a channel have left for the network. */
export interface Flush {
  /** True when everything written before the call was flushed; false when the connection went away first. */
  done(): Promise<boolean>
}

/** How often a full socket is looked at again. */
const fullSocketPollMs = 5

/** Joins all settlements of one turn of the event loop into one wait. */
export function createFlush(connection: OpenConnection, clock: Clock): Flush {
  let joining: Promise<boolean> | undefined
  const flush = async (): Promise<boolean> => {
    // The client writes a frame into a stream of its channel and moves it to the socket in the next turn: two turns
    // later it is there. Only a socket that the peer does not read takes longer.
    await immediate()
    joining = undefined
    await immediate()
    while (!connection.lost.aborted && !socketIsFlushed(connection.driver)) {
      await sleep(clock, fullSocketPollMs, connection.lost)
    }
    return !connection.lost.aborted
  }
  return { done: () => (joining ??= flush()) }
}

function immediate(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve)
  })
}
