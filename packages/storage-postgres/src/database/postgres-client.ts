/** One statement, as this package sends it: positional rows of raw text. */
export interface PostgresQuery {
  /** SQL with `$1` placeholders. */
  text: string
  /** Values of the placeholders. */
  values: unknown[]
  /** Rows come as arrays. */
  rowMode: 'array'
  /** Leaves values as the protocol brought them, whatever parsers the application has set. */
  types: { getTypeParser(id: number, format?: string): (value: unknown) => unknown }
  /** Result columns in binary format. */
  binary?: boolean
}

/** What a statement brought. */
export interface PostgresResult {
  /** The rows. */
  rows: unknown[][]
  /** Command tag, `COMMIT` or `ROLLBACK` for example. */
  command: string
}

/**
 * The caller's open transaction: a `Client` or `PoolClient` of `pg` on which `BEGIN` was run, or anything with the
 * same `query`.
 */
export interface PostgresTransaction {
  /** Runs one statement of the application, as a client of `pg` does. */
  query(
    text: string,
    values?: unknown[],
  ): Promise<{ rows: Record<string, unknown>[]; rowCount: number | null }>
  /** Runs one statement of this package. */
  query(query: PostgresQuery): Promise<PostgresResult>
  /** `I` idle, `T` in a transaction, `E` in a failed one; asked where present, to spare a round trip. */
  getTransactionStatus?(): string | null
}

/** A client checked out of a pool. */
export interface PostgresPoolClient extends PostgresTransaction {
  /** Gives the client back; with an error or `true` it is closed instead. */
  release(error?: Error | boolean): void
  /** Listens for the loss of the connection, which would otherwise end the process. */
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Stops listening. */
  off(event: 'error', listener: (error: Error) => void): unknown
}

/** A pool of connections; `pg.Pool` is one. */
export interface PostgresPool {
  /**
   * Checks a client out. With a callback and not a promise, so that the loss of the connection is listened for from
   * the first moment on.
   */
  connect(callback: (error: Error | undefined, client: PostgresPoolClient | undefined) => void): void
  /** Listens for the loss of idle connections, which would otherwise end the process. */
  on?(event: 'error', listener: (error: Error) => void): unknown
  /** How many listen already. */
  listenerCount?(event: 'error'): number
}
