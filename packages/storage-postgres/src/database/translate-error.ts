import {
  InboxStorageError,
  InvalidOperationError,
  isLiteBusError,
  StoreUnavailableError,
} from '@litebus/core'

/** Codes and classes under which the database cannot work now, with what they mean. */
const unavailable: readonly (readonly [prefix: string, meaning: string])[] = [
  ['08', 'the connection failed'],
  ['28', 'the database refused the login'],
  ['3D000', 'the database does not exist'],
  ['3F000', 'the schema does not exist'],
  ['25006', 'the database is read-only'],
  ['25P03', 'the transaction was idle too long'],
  ['40', 'the transaction was rolled back because of a conflict'],
  ['42501', 'the role lacks a right'],
  ['42P01', 'a table of the schema is missing'],
  ['42703', 'a column of the schema is missing'],
  ['42883', 'a function of the schema is missing'],
  ['42804', 'the schema is of another version'],
  ['53', 'the database has run out of a resource'],
  ['55P03', 'a lock was not available in time'],
  ['57', 'the statement was cancelled or the database is shutting down'],
  ['58', 'the database has a system fault'],
  ['XX', 'the database has an internal fault'],
]

/** The SQLSTATE of an error of the server, if it is one. */
export function sqlStateOf(error: unknown): string | undefined {
  if (typeof error !== 'object' || error === null) return undefined
  const { code, severity } = error as { readonly code?: unknown; readonly severity?: unknown }
  return typeof code === 'string' && /^[0-9A-Z]{5}$/.test(code) && severity !== undefined ? code : undefined
}

/**
 * Turns what the driver or the server threw into what the port promises. Anything that is not an answer of the
 * server is a matter of the connection.
 */
export function translateError(error: unknown, doing: string): unknown {
  if (isLiteBusError(error)) return error
  // Not by instanceof: errors of the runtime itself may come from another realm.
  if (typeof error !== 'object' || error === null || !('message' in error)) return error
  if ('name' in error && (error.name === 'AbortError' || error.name === 'TimeoutError')) return error
  const state = sqlStateOf(error)
  if (state === undefined) {
    return new StoreUnavailableError(`expected to ${doing}, the connection to PostgreSQL failed`, {
      cause: error,
    })
  }
  if (state === '25P02') {
    return new InvalidOperationError(
      `expected to ${doing} in an open transaction, found one that an earlier error has aborted`,
      { cause: error },
    )
  }
  const known = unavailable.find(([prefix]) => state.startsWith(prefix))
  if (known !== undefined) {
    return new StoreUnavailableError(`expected to ${doing}, ${known[1]} (SQLSTATE ${state})`, {
      cause: error,
    })
  }
  if (state.startsWith('22') || state.startsWith('54')) {
    return new InboxStorageError(`expected to ${doing}, PostgreSQL refused a value (SQLSTATE ${state})`, {
      cause: error,
    })
  }
  return error
}
