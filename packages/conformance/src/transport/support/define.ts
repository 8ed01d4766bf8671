import type { ConformanceCase } from '../../frame/suite.ts'
import type { DestinationKind, TransportFixture, TransportProfile } from '../fixture.ts'

/** A case of the transport suite. */
export type TransportCase = ConformanceCase<TransportFixture, TransportProfile>

/** Cases of one concern. */
export function concern(
  name: string,
  cases: readonly Omit<TransportCase, 'concern'>[],
): readonly TransportCase[] {
  return cases.map((entry) => ({ concern: name, ...entry }))
}

/** Needs deliveries that are settled one by one. */
export const needsPerMessageAck: NonNullable<TransportCase['needs']> = {
  capability: 'perMessageAck',
  met: ({ kinds }) => kinds.plain.perMessageAck,
}

/** Needs a log: what is settled is a place in it, and everything before. */
export const needsLog: NonNullable<TransportCase['needs']> = {
  capability: 'no perMessageAck',
  met: ({ kinds }) => !kinds.plain.perMessageAck,
}

/** Needs a kind of destination. */
export function needsKind(kind: DestinationKind): NonNullable<TransportCase['needs']> {
  return { capability: kind, met: ({ kinds }) => kinds[kind] !== undefined }
}
