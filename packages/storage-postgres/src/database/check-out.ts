import { StoreUnavailableError, type Clock } from '@litebus/core'
import type { PostgresPool, PostgresPoolClient } from './postgres-client.ts'

/** How a client is taken from a pool. */
export interface CheckOutOptions {
  /** What it is for, for the error. */
  readonly doing: string
  /** Time. */
  readonly clock: Clock
  /** Milliseconds to wait for a free client and for its connection. */
  readonly limitMs: number
  /** Hears of the loss of the connection, from the first moment on. */
  readonly onError: (error: Error) => void
}

/**
 * Takes a client from the pool within a limit. The listener is attached in the callback of the pool, not behind a
 * promise: a connection that dies in between would emit an error that nobody hears, which ends the process.
 *
 * @throws StoreUnavailableError when there is none in time; a client that comes late goes back at once.
 */
export function checkOut(
  pool: PostgresPool,
  { doing, clock, limitMs, onError }: CheckOutOptions,
): Promise<PostgresPoolClient> {
  return new Promise((resolve, reject) => {
    let late = false
    const timer = clock.schedule(limitMs, () => {
      late = true
      reject(
        new StoreUnavailableError(
          `expected to ${doing}, found no connection of the pool within ${String(limitMs)} ms`,
        ),
      )
    })
    pool.connect((error, client) => {
      timer.cancel()
      if (client === undefined) reject(error ?? new Error('the pool answered no client'))
      else if (late) client.release()
      else {
        client.on('error', onError)
        resolve(client)
      }
    })
  })
}
