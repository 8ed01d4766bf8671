import type { LeaseRequest } from '@litebus/core'

/** What the processors of one process look for, taken together. It only grows; before the first request it is everything. */
export class Interest {
  readonly #contracts = new Wanted()
  readonly #tenants = new Wanted()

  /** Contracts, or null for all of them. */
  get contracts(): readonly string[] | null {
    return this.#contracts.values
  }

  /** Tenants, or null for all of them. */
  get tenants(): readonly string[] | null {
    return this.#tenants.values
  }

  /** Adds what one request looks for; true when that was not covered before. */
  add({ contracts, tenants }: Pick<LeaseRequest, 'contracts' | 'tenants'>): boolean {
    const moreContracts = this.#contracts.add(contracts)
    const moreTenants = this.#tenants.add(tenants)
    return moreContracts || moreTenants
  }
}

class Wanted {
  #all = false
  readonly #some = new Set<string>()

  get values(): readonly string[] | null {
    return this.#all || this.#some.size === 0 ? null : [...this.#some]
  }

  add(wanted: readonly string[] | undefined): boolean {
    if (this.#all) return false
    if (wanted === undefined) {
      this.#all = true
      return true
    }
    const before = this.#some.size
    for (const value of wanted) this.#some.add(value)
    return this.#some.size > before
  }
}
