import type { Logger } from '@litebus/core'
import pg from 'pg'

/**
 * Opens a pool that outlives its connections. A connection that is lost makes the query that runs on it fail, and the
 * pool replaces it; without listeners, the events about it would end the process.
 */
export function openPool(options: {
  readonly url: string
  readonly max: number
  readonly logger: Logger
}): pg.Pool {
  const pool = new pg.Pool({
    connectionString: options.url,
    max: options.max,
    connectionTimeoutMillis: 10_000,
    keepAlive: true,
  })
  pool.on('error', () => {
    options.logger.warn('an idle connection was lost')
  })
  // From the first moment, not from the checkout on: the loss can be told between a checkout and what follows it.
  pool.on('connect', (client) => {
    client.on('error', () => undefined)
  })
  return pool
}
