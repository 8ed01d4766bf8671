import { inspect, isDeepStrictEqual } from 'node:util'
import {
  isLiteBusError,
  type LiteBusErrorCode,
  type OutboundMessage,
  type PublishOutcome,
  type Transport,
} from '@litebus/core'
import type { TransportFixture } from '../fixture.ts'
import { eventually } from './eventually.ts'

const shownItems = 40

/** Compares deeply; the message says what was compared. */
export function expectEqual(actual: unknown, expected: unknown, what: string): void {
  if (isDeepStrictEqual(actual, expected)) return
  throw new Error(
    differenceInLists(actual, expected, what) ?? `${what}: expected ${show(expected)}, found ${show(actual)}`,
  )
}

/** Of long lists of one length, the first place in which they differ says more than their beginnings. */
function differenceInLists(actual: unknown, expected: unknown, what: string): string | undefined {
  if (!Array.isArray(actual) || !Array.isArray(expected)) return undefined
  if (actual.length !== expected.length || actual.length <= shownItems) return undefined
  const places = actual.flatMap((item, index) => (isDeepStrictEqual(item, expected[index]) ? [] : [index]))
  const [first = 0] = places
  return `${what}: expected ${show(expected[first])} in place ${String(first)}, found ${show(actual[first])}; ${String(places.length)} of ${String(actual.length)} differ`
}

function show(value: unknown): string {
  return inspect(value, { depth: 6, maxArrayLength: shownItems, maxStringLength: 400 })
}

/** Fails with a sentence unless the condition holds. */
export function expectThat(condition: boolean, sentence: string): void {
  if (!condition) throw new Error(sentence)
}

/** What became of publishes: the status, with the code where the message is still to be published. */
export function statusesOf(outcomes: readonly PublishOutcome[]): string[] {
  return outcomes.map((outcome) =>
    outcome.status === 'unavailable' || outcome.status === 'ambiguous'
      ? `${outcome.status}: ${outcome.failure.code}`
      : outcome.status,
  )
}

/** Publishes and expects every message to be confirmed. */
export async function publishAll(transport: Transport, batch: readonly OutboundMessage[]): Promise<void> {
  const outcomes = await transport.publisher.publish(batch)
  expectEqual(
    statusesOf(outcomes),
    batch.map(() => 'confirmed'),
    'outcomes of a publish that nothing hinders',
  )
}

/** Expects a rejection with a code of LiteBus. */
export async function expectRejection(promise: Promise<unknown>, code: LiteBusErrorCode): Promise<void> {
  let found: unknown
  try {
    await promise
  } catch (error) {
    if (isLiteBusError(error, code)) return
    found = error
  }
  throw new Error(
    found === undefined
      ? `expected an error ${code}, found success`
      : `expected an error ${code}, found another`,
    { cause: found },
  )
}

/** Waits until so many messages wait in a source. */
export async function expectCount(fixture: TransportFixture, source: string, count: number): Promise<void> {
  await eventually(`${String(count)} messages waiting`, () => fixture.count(source), {
    until: (found) => found === count,
  })
}
