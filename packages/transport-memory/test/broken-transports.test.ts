import { beforeAll, describe, expect, it } from '@jest/globals'
import { transportConformance, type BoundCase, type TransportProfile } from '@litebus/conformance'
import type { Transport } from '@litebus/core'
import { memoryProfile, openMemoryFixture } from './memory-fixture.ts'
import { brokenDeliveries } from './broken/deliveries.ts'
import { brokenPublishers } from './broken/publishers.ts'
import { brokenSubscriptions } from './broken/subscriptions.ts'
import { later, withPublish, wrapTransport } from './broken/wrap.ts'

const broken = [...brokenPublishers, ...brokenDeliveries, ...brokenSubscriptions]

/** A sound transport that cannot delay, for the cases that only such a one runs. */
function withoutDelay(base: Transport): Transport {
  const refusing = withPublish(base, async (batch, options) => {
    const outcomes = await base.publisher.publish(
      batch.filter(({ delayMs = 0 }) => delayMs === 0),
      options,
    )
    let next = 0
    return batch.map(
      ({ delayMs = 0 }) =>
        (delayMs === 0 ? outcomes[next++] : undefined) ?? {
          status: 'rejected',
          failure: { category: 'CONFIGURATION', code: 'DELAY_UNSUPPORTED' },
        },
    )
  })
  return wrapTransport(refusing, {
    capabilitiesOf: (destination) => ({
      ...base.capabilitiesOf(destination),
      delayedDelivery: false,
      maxDelayMs: 0,
    }),
  })
}

function delayless({ kinds, ...profile }: TransportProfile): TransportProfile {
  const { plain } = kinds
  return { ...profile, kinds: { plain: { ...plain, delayedDelivery: false, maxDelayMs: 0 } } }
}

/** A sound transport of a log, as far as its declaration goes, for the cases that only such a one runs. */
function asLog(base: Transport): Transport {
  return wrapTransport(base, {
    capabilitiesOf: (destination) => ({ ...base.capabilitiesOf(destination), perMessageAck: false }),
  })
}

function logLike({ kinds, ...profile }: TransportProfile): TransportProfile {
  return { ...profile, kinds: { plain: { ...kinds.plain, perMessageAck: false } } }
}

/** All cases that there are, over a memory transport that went through `breakIt`. */
function casesOf(breakIt: (base: Transport) => Transport): ReadonlyMap<string, BoundCase> {
  const cases = new Map<string, BoundCase>()
  for (const { profile, sound } of [
    { profile: delayless(memoryProfile()), sound: withoutDelay },
    { profile: logLike(memoryProfile()), sound: asLog },
    { profile: memoryProfile(), sound: (base: Transport) => base },
  ]) {
    for (const stress of [true, false]) {
      const suite = transportConformance({
        adapter: 'broken',
        profile,
        stress,
        open: (scope) => {
          const fixture = openMemoryFixture(scope)
          return Promise.resolve({ ...fixture, connect: () => breakIt(sound(fixture.connect())) })
        },
      })
      for (const entry of suite.cases)
        if (!entry.title.endsWith('times at once')) cases.set(entry.title, entry)
    }
  }
  return cases
}

/** A case that neither passes nor fails in this time hangs, which a runner reports as a failure. */
const hangMs = 20_000

async function outcomeOf(entry: BoundCase | undefined): Promise<string> {
  if (entry === undefined) return 'there is no such case'
  const run = entry.run().then(
    () => 'passed',
    () => 'failed',
  )
  return Promise.race([run, later(hangMs).then(() => 'failed')])
}

describe('the transport suite', () => {
  const outcomes = new Map<string, string>()

  beforeAll(async () => {
    // All at once: a fault is often noticed by waiting in vain.
    await Promise.all(
      broken.flatMap(({ fault, breakIt, noticedBy }) => {
        const cases = casesOf(breakIt)
        return noticedBy.map(async (title) => {
          outcomes.set(`${fault} | ${title}`, await outcomeOf(cases.get(title)))
        })
      }),
    )
  }, 120_000)

  it.each(broken.flatMap(({ fault, noticedBy }) => noticedBy.map((title) => ({ fault, title }))))(
    'notices a transport that $fault, in "$title"',
    ({ fault, title }) => {
      expect(outcomes.get(`${fault} | ${title}`)).toBe('failed')
    },
  )

  it('has no case that no broken transport fails', () => {
    const noticing = new Set(broken.flatMap(({ noticedBy }) => noticedBy))
    expect([...casesOf((base) => base).keys()].filter((title) => !noticing.has(title))).toEqual([])
  })

  it('lists what a declaration rules out, and nothing else', () => {
    const suite = transportConformance({
      adapter: 'plain only',
      profile: { ...delayless(memoryProfile()), foreignPublisher: false },
      open: (scope) => Promise.resolve(openMemoryFixture(scope)),
    })
    expect([...new Set(suite.ruledOut.map(({ capability }) => capability))].sort()).toEqual([
      'deadLetter',
      'delayedDelivery',
      'foreignPublisher',
      'no perMessageAck',
      'ordered',
      'routed',
    ])
  })
})
