import type { AxisNames, Names } from './names.ts'
import { appendFunction, appendManyFunction, appendNewFunction } from './v1/append.ts'
import { appendOneFunctions } from './v1/append-one.ts'
import { leaseLanesFunction } from './v1/lease-lanes.ts'
import { leaseReadyFunction } from './v1/lease-ready.ts'
import { leaseSuspectFunction } from './v1/lease-suspect.ts'
import { releaseFunction, renewFunction, settleFailedFunction, settleSucceededFunction } from './v1/settle.ts'
import { sweepFunction } from './v1/sweep.ts'
import { axisTables, sharedTables } from './v1/tables.ts'

/** One step from a version of the schema to the next. Never edited once released. */
export interface Migration {
  readonly version: number
  readonly name: string
  /** The statements for an installation. */
  readonly statements: (names: Names) => readonly string[]
}

/** All steps, oldest first. */
export const migrations: readonly Migration[] = [
  {
    version: 1,
    name: 'tables and functions of inbox and outbox',
    statements: (names) => [
      ...sharedTables(names),
      ...[names.inbox, names.outbox].flatMap((axis) => [...axisTables(axis), ...axisFunctions(names, axis)]),
    ],
  },
]

/** The version that this package works with. */
export const expectedVersion: number = migrations.at(-1)?.version ?? 0

function axisFunctions(names: Names, axis: AxisNames): readonly string[] {
  return [
    appendFunction(names, axis),
    ...appendOneFunctions(names, axis),
    appendManyFunction(axis),
    appendNewFunction(names, axis),
    leaseReadyFunction(axis),
    leaseLanesFunction(axis),
    leaseSuspectFunction(axis),
    sweepFunction(axis),
    settleSucceededFunction(axis),
    settleFailedFunction(axis),
    releaseFunction(axis),
    renewFunction(axis),
  ]
}
