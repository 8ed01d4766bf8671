import { literal, type AxisNames } from '../names.ts'

/**
 * Locks keep two open transactions from writing one identity: the second would wait for the first inside the caller's
 * transaction. They are made here, since a hash costs the server a tenth of what it costs its clients.
 */
export function idLock({ lockSeed }: AxisNames, id: string): string {
  return `uuid_hash_extended(${id}, ${literal(lockSeed)}::bigint)`
}

/** The lock of an idempotency key. */
export function keyLock({ lockSeed }: AxisNames, tenant: string, key: string): string {
  return `hashtextextended(${key}, hashtextextended(${tenant}, ${literal(lockSeed)}::bigint))`
}

/** The lock by which producers of one ordering key take turns. */
export function turnOf({ lockSeed }: AxisNames, lane: string): string {
  return `hashtextextended('t' || ${lane}, ${literal(lockSeed)}::bigint)`
}

/** Random ids need no lock: a UUIDv7 does not repeat, derived and given ones do by design. */
export function repeats(id: string): string {
  return `get_byte(uuid_send(${id}), 6) >> 4 <> 7`
}
