import type { PostgresTransaction } from './postgres-client.ts'

/** One row; every value is text or null. Bodies are text too, see {@link statement}. */
export type Row = readonly (string | null)[]

/** Runs a statement and answers its rows. */
export type Run = (text: string, values: readonly unknown[]) => Promise<readonly Row[]>

/** What a statement brought. */
export interface StatementResult {
  /** The rows. */
  readonly rows: readonly Row[]
  /** Command tag. */
  readonly command: string
}

const asReceived = { getTypeParser: () => (value: unknown) => value }

/** Runs one statement on a client. Values are never parsed by the driver: applications change its parsers. */
export async function statement(
  client: PostgresTransaction,
  text: string,
  values: readonly unknown[] = [],
): Promise<StatementResult> {
  const binary = values.length > 0
  const result = await client.query({
    text,
    values: [...values],
    rowMode: 'array',
    types: asReceived,
    ...(binary ? { binary } : {}),
  })
  return { rows: result.rows as Row[], command: result.command }
}
