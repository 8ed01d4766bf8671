import type { Row } from './row.ts'

/** Rows by due time, then by sequence; a binary heap, because a backlog can be long. */
export class DueHeap {
  readonly #rows: Row[] = []

  /** The row that is due first. */
  get first(): Row | undefined {
    return this.#rows[0]
  }

  /** Adds a row. */
  push(row: Row): void {
    const rows = this.#rows
    let index = rows.length
    rows.push(row)
    while (index > 0) {
      const parent = (index - 1) >> 1
      const above = rows[parent]
      if (above === undefined || !before(row, above)) break
      rows[index] = above
      index = parent
    }
    rows[index] = row
  }

  /** Takes the row that is due first. */
  pop(): Row | undefined {
    const rows = this.#rows
    const top = rows[0]
    const last = rows.pop()
    if (last === undefined || rows.length === 0) return top
    let index = 0
    for (;;) {
      const left = 2 * index + 1
      const child = smaller(rows, left)
      const below = rows[child]
      if (below === undefined || !before(below, last)) break
      rows[index] = below
      index = child
    }
    rows[index] = last
    return top
  }
}

function smaller(rows: readonly Row[], left: number): number {
  const a = rows[left]
  const b = rows[left + 1]
  return a !== undefined && b !== undefined && before(b, a) ? left + 1 : left
}

function before(a: Row, b: Row): boolean {
  return a.dueAt < b.dueAt || (a.dueAt === b.dueAt && a.sequence < b.sequence)
}
