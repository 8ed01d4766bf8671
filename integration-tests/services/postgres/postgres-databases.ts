import { Client } from 'pg'
import type { RunningService } from '../service-definition.ts'

/** A PostgreSQL server on which every space is a database of its own, always in UTF-8. */
export function postgresDatabases(url: string, end: () => Promise<void>): RunningService {
  return {
    url,
    async openSpace(name) {
      /* template0 has no sessions, so that many databases can be made at a time, and takes any encoding. */
      await administer(
        url,
        `create database ${name} template template0 encoding 'UTF8' lc_collate 'C' lc_ctype 'C'`,
      )
      const own = new URL(url)
      own.pathname = `/${name}`
      return {
        url: own.href,
        prefix: '',
        [Symbol.asyncDispose]: () => administer(url, `drop database if exists ${name} with (force)`),
      }
    },
    [Symbol.asyncDispose]: end,
  }
}

async function administer(url: string, statement: string): Promise<void> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    await client.query(statement)
  } finally {
    await client.end()
  }
}
