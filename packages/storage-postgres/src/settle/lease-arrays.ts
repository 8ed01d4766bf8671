import type { Lease } from '@litebus/core'

/** Leases of one owner as the arrays that the functions take, in the text form of the server. */
export interface LeaseArrays {
  readonly sequences: string
  readonly generations: string
  readonly owner: string
}

/** Builds the arrays. */
export function leaseArrays(leases: readonly Lease[]): LeaseArrays {
  return {
    sequences: arrayOf(leases.map((lease) => lease.sequence)),
    generations: arrayOf(leases.map((lease) => lease.generation)),
    owner: leases[0]?.owner ?? '',
  }
}

/** Digits need no quotes, which the driver would look for one by one. */
function arrayOf(numbers: readonly string[]): string {
  return `{${numbers.join(',')}}`
}

/** Tells one lease from another. */
export function leaseKey({ sequence, generation, owner }: Lease): string {
  return `${sequence}:${generation}:${owner}`
}

/** One group an owner; a processor has one, so there is one statement. */
export function byOwner<T>(items: readonly T[], leaseOf: (item: T) => Lease): readonly (readonly T[])[] {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const { owner } = leaseOf(item)
    const group = groups.get(owner)
    if (group === undefined) groups.set(owner, [item])
    else group.push(item)
  }
  return [...groups.values()]
}
