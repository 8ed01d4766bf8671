import { AssertionError, deepStrictEqual, ok } from 'node:assert/strict'
import {
  isLiteBusError,
  uuidV7,
  type LeaseBatch,
  type LeasedEnvelope,
  type LeaseRequest,
  type LiteBusError,
  type LiteBusErrorCode,
  type MessageStore,
  type NewMessage,
  type SettleOutcome,
} from '@litebus/core'
import type { ConformanceCase } from '../frame/suite.ts'
import type { StoreCapabilities, StoreFixture } from './store-fixture.ts'

/** One case of the store suite. */
export type StoreCase = ConformanceCase<StoreFixture, StoreCapabilities>

/** Builds a message. */
export function aMessage(over: Partial<NewMessage> = {}): NewMessage {
  return {
    id: uuidV7(),
    contractName: 'orders.placed',
    contractVersion: 1,
    body: Buffer.from('{"order":1}'),
    ...over,
  }
}

/** Builds that many messages. */
export function messages(
  count: number,
  over: (index: number) => Partial<NewMessage> = () => ({}),
): NewMessage[] {
  return Array.from({ length: count }, (_, index) => aMessage(over(index)))
}

/** Builds a lease request. */
export function aRequest(over: Partial<LeaseRequest> = {}): LeaseRequest {
  return { owner: 'worker-1', limit: 100, leaseMs: 60_000, maxAttempts: 5, ...over }
}

/** Leases until nothing more comes; calls may answer in portions. */
export async function leaseAll(
  store: MessageStore,
  over: Partial<LeaseRequest> = {},
): Promise<LeasedEnvelope[]> {
  const taken: LeasedEnvelope[] = []
  for (let idle = 0, calls = 0; idle < 3; calls += 1) {
    // A store that gives the same again and again would keep the case from ever ending.
    ok(calls < 500, 'expected leases to come to an end')
    const { envelopes } = await store.lease(aRequest(over))
    taken.push(...envelopes)
    idle = envelopes.length === 0 ? idle + 1 : 0
  }
  return taken
}

/** Leases until a call brings something, letting time pass in between. */
export async function leaseSoon(
  fixture: StoreFixture,
  store: MessageStore,
  over: Partial<LeaseRequest> = {},
): Promise<LeaseBatch> {
  let batch: LeaseBatch | undefined
  await eventually(fixture, 'a lease brings messages', async () => {
    batch = await store.lease(aRequest(over))
    return batch.envelopes.length > 0
  })
  ok(batch)
  return batch
}

/** Lets time pass until a condition holds; fails after ten seconds of the store's time. */
export async function eventually(
  fixture: StoreFixture,
  what: string,
  condition: () => Promise<boolean>,
): Promise<void> {
  for (let waitedMs = 0; waitedMs < 10_000; waitedMs += 25) {
    if (await condition()) return
    await fixture.pass(25)
  }
  throw new AssertionError({ message: `expected that soon ${what}` })
}

/** Outcomes of one kind for envelopes. */
export function succeeded(envelopes: readonly LeasedEnvelope[]): SettleOutcome[] {
  return envelopes.map(({ lease }) => ({ kind: 'succeeded', lease }))
}

/** A retry of an envelope. */
export function retried({ lease }: LeasedEnvelope, delayMs = 0, code = 'BOOM'): SettleOutcome {
  return { kind: 'retry', lease, delayMs, category: 'DEPENDENCY', code }
}

/** A dead letter of an envelope. */
export function deadLettered({ lease }: LeasedEnvelope, code = 'POISON'): SettleOutcome {
  return { kind: 'deadLettered', lease, category: 'VALIDATION', code }
}

/** Ids of envelopes, in order. */
export function idsOf(envelopes: readonly LeasedEnvelope[]): string[] {
  return envelopes.map((envelope) => envelope.message.id)
}

/** The only envelope of a list. */
export function only<T>(list: readonly T[]): T {
  deepStrictEqual(list.length, 1, `expected exactly one, found ${String(list.length)}`)
  const [first] = list
  ok(first !== undefined)
  return first
}

/** An element that must be there. */
export function at<T>(list: readonly T[], index: number): T {
  const element = list[index]
  ok(element !== undefined, `expected an element at ${String(index)} of ${String(list.length)}`)
  return element
}

/** Expects a rejection with one of the codes and answers the error. */
export async function rejects(
  work: Promise<unknown>,
  ...codes: readonly LiteBusErrorCode[]
): Promise<LiteBusError> {
  try {
    await work
  } catch (error) {
    if (isLiteBusError(error, ...codes)) return error
    throw new AssertionError({ message: `expected ${codes.join(' or ')}, found ${String(error)}` })
  }
  throw new AssertionError({ message: `expected ${codes.join(' or ')}, found a result` })
}

/** Expects that a promise is still pending after everything that can run has run. */
export async function staysPending(work: Promise<unknown>, ms = 100): Promise<void> {
  const winner = await Promise.race([
    work.then(
      () => 'settled',
      () => 'settled',
    ),
    new Promise((resolve) => setTimeout(resolve, ms, 'pending')),
  ])
  deepStrictEqual(winner, 'pending', 'expected the call to wait')
}
