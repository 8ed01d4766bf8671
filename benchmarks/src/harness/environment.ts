import { cpus, totalmem } from 'node:os'
import pg from 'pg'

/** Where the figures come from. */
export async function describeEnvironment(databaseUrl: string): Promise<Record<string, string | number>> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  try {
    const { rows } = await client.query<{ server_version: string }>('show server_version')
    return {
      node: process.version,
      postgres: rows[0]?.server_version ?? 'unknown',
      cpu: cpus()[0]?.model ?? 'unknown',
      cores: cpus().length,
      memoryGiB: Math.round(totalmem() / 2 ** 30),
    }
  } finally {
    await client.end()
  }
}
