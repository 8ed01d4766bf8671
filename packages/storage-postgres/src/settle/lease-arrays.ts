import type { Lease } from '@litebus/core'

/** Leases as the arrays that the functions take, in the order in which rows are locked. */
export interface LeaseArrays {
  readonly sequences: readonly string[]
  readonly generations: readonly string[]
  readonly owners: readonly string[]
}

/** Builds the arrays. */
export function leaseArrays(leases: readonly Lease[]): LeaseArrays {
  return {
    sequences: leases.map((lease) => lease.sequence),
    generations: leases.map((lease) => lease.generation),
    owners: [...new Set(leases.map((lease) => lease.owner))],
  }
}

/** Tells one lease from another. */
export function leaseKey(lease: Lease): string {
  return `${lease.sequence}:${lease.generation}:${lease.owner}`
}
