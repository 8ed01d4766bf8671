/** The counts of the closing table. */
export interface Counts {
  /** Orders whose transaction committed. */
  readonly placed: number
  /** Transactions that were rolled back. */
  readonly rolledBack: number
  /** Publishes that the broker confirmed: two a message. */
  readonly published: number
  /** Deliveries that the inbox accepted or recognised. */
  readonly delivered: number
  /** Rows in the inbox: one a message. */
  readonly accepted: number
  /** Deliveries that met an existing row. */
  readonly duplicatesAbsorbed: number
  /** Bodies in the inbox that are byte for byte what was enqueued. */
  readonly identicalBodies: number
  /** Worker processes killed in mid-handler. */
  readonly workersKilled: number
  /** Messages of the killed worker that a later attempt completed. */
  readonly recovered: number
  /** Messages that were parked. */
  readonly parked: number
  /** Parked messages that were requeued after the fix. */
  readonly requeued: number
  /** Effects in the table of the billing service. */
  readonly effects: number
  /** Effects that exist more than once. */
  readonly repeatedEffects: number
  /** Orders without an effect. */
  readonly lost: number
}

/** What is not as it must be, one sentence each. */
export function countFaults(counts: Counts, orders: number): string[] {
  const faults: string[] = []
  const expect = (name: keyof Counts, expected: number): void => {
    if (counts[name] !== expected) {
      faults.push(`expected ${name} to be ${String(expected)}, found ${String(counts[name])}`)
    }
  }
  expect('placed', orders)
  expect('rolledBack', 1)
  expect('published', orders * 2)
  expect('accepted', orders)
  expect('delivered', orders * 2)
  expect('duplicatesAbsorbed', orders)
  expect('identicalBodies', orders)
  expect('workersKilled', 1)
  if (counts.recovered < 1)
    faults.push(`expected recovered to be at least 1, found ${String(counts.recovered)}`)
  expect('parked', 1)
  expect('requeued', 1)
  expect('effects', orders)
  expect('repeatedEffects', 0)
  expect('lost', 0)
  return faults
}

/** The table as text. */
export function tableOf(counts: Counts): string {
  const rows: readonly [string, number][] = [
    ['orders placed', counts.placed],
    ['transactions rolled back', counts.rolledBack],
    ['publishes confirmed (two a message)', counts.published],
    ['deliveries', counts.delivered],
    ['inbox rows', counts.accepted],
    ['duplicates absorbed', counts.duplicatesAbsorbed],
    ['bodies byte-identical', counts.identicalBodies],
    ['workers killed in mid-handler', counts.workersKilled],
    ['recovered by a later attempt', counts.recovered],
    ['parked', counts.parked],
    ['requeued after the fix', counts.requeued],
    ['effects', counts.effects],
    ['repeated effects', counts.repeatedEffects],
    ['lost', counts.lost],
  ]
  const width = Math.max(...rows.map(([label]) => label.length))
  return rows.map(([label, value]) => `  ${label.padEnd(width)}  ${String(value).padStart(4)}`).join('\n')
}
