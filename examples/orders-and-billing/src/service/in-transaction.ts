import type { Pool, PoolClient } from 'pg'

/**
 * Runs `work` in a transaction: committed when it resolves, rolled back when it throws, and its error is the one that
 * the caller gets.
 */
export async function inTransaction<T>(pool: Pool, work: (client: PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect()
  let unusable = false
  try {
    await client.query('begin')
    const result = await work(client)
    await client.query('commit')
    return result
  } catch (error) {
    // Where the rollback fails, the connection is gone or in an unknown state: closing it rolls back as well.
    await client.query('rollback').catch(() => (unusable = true))
    throw error
  } finally {
    client.release(unusable)
  }
}
