import { createHash } from 'node:crypto'
import type { Axis } from '@litebus/core'

/** Quoted, schema-qualified names of everything that one axis owns. */
export interface AxisNames {
  readonly axis: Axis
  /** Messages as they were written. */
  readonly message: string
  /** What waits or is leased. */
  readonly queue: string
  /** What succeeded. */
  readonly done: string
  /** Dead letters. */
  readonly dead: string
  /** What is known about busy ordering keys. */
  readonly lane: string
  /** Feeds `seq`; cache 1, because happens-before depends on it. */
  readonly sequence: string
  /** Feeds lease generations. */
  readonly generation: string
  /** Class of the advisory locks that serialise the leasing of one ordering key. */
  readonly laneLockClass: number
  /** Seed of the locks that an append takes; tells installations and axes apart. */
  readonly lockSeed: string
  /** Qualifies a function of this axis. */
  fn(name: string): string
  /** Quotes the unqualified name of an index of this axis. */
  index(name: string): string
}

/** Quoted names of one installation: a schema and a table prefix. */
export interface Names {
  /** Unquoted, for messages and catalog queries. */
  readonly schemaName: string
  /** Unquoted. */
  readonly prefix: string
  /** Quoted. */
  readonly schema: string
  /** Which migrations were applied, and what they left. */
  readonly migration: string
  /** Who waits for work. */
  readonly sleeper: string
  /** Channel of notifications. */
  readonly channel: string
  /** Advisory lock that serialises migrations. */
  readonly migrationLock: string
  readonly inbox: AxisNames
  readonly outbox: AxisNames
}

/** What is wrong with an identifier, if anything. PostgreSQL cuts names at 63 bytes, which would make two of them one. */
export function identifierFault(option: string, value: string, maxBytes: number): string | undefined {
  if (typeof value !== 'string') return `expected ${option} to be text, found ${typeof value}`
  const bytes = Buffer.byteLength(value, 'utf8')
  if (bytes > maxBytes)
    return `expected ${option} of at most ${String(maxBytes)} bytes, found ${String(bytes)}`
  if (value.includes('\0') || value.includes('$litebus$') || /\p{Surrogate}/u.test(value)) {
    return `expected ${option} without NUL characters, unpaired surrogates and "$litebus$"`
  }
  return undefined
}

/** Quotes an identifier. */
export function quote(identifier: string): string {
  return `"${identifier.replaceAll('"', '""')}"`
}

/** Quotes text as an SQL literal. */
export function literal(text: string): string {
  const escaped = text.replaceAll("'", "''")
  return escaped.includes('\\') ? ` E'${escaped.replaceAll('\\', '\\\\')}'` : `'${escaped}'`
}

/** Builds all names of an installation. */
export function namesOf(schemaName: string, prefix: string): Names {
  const schema = quote(schemaName)
  const qualify = (name: string): string => `${schema}.${quote(prefix + name)}`
  const axis = (which: Axis): AxisNames => ({
    axis: which,
    message: qualify(`${which}_message`),
    queue: qualify(`${which}_queue`),
    done: qualify(`${which}_done`),
    dead: qualify(`${which}_dead`),
    lane: qualify(`${which}_lane`),
    sequence: qualify(`${which}_sequence`),
    generation: qualify(`${which}_generation`),
    lockSeed: hash(`${schemaName}\0${prefix}\0${which}\0append`).readBigInt64BE(0).toString(),
    laneLockClass: hash(`${schemaName}\0${prefix}\0${which}\0lane`).readInt32BE(0),
    fn: (name) => qualify(`${which}_${name}`),
    index: (name) => quote(`${prefix}${which}_${name}`),
  })
  return {
    schemaName,
    prefix,
    schema,
    migration: qualify('migration'),
    sleeper: qualify('sleeper'),
    channel: `litebus_${hash(`${schemaName}\0${prefix}`).toString('hex').slice(0, 16)}`,
    migrationLock: hash(`${schemaName}\0${prefix}\0migration`).readBigInt64BE(0).toString(),
    inbox: axis('inbox'),
    outbox: axis('outbox'),
  }
}

function hash(text: string): Buffer {
  return createHash('sha256').update(text, 'utf8').digest()
}
