import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import {
  decideRetry,
  failureCategories,
  resolveRetryProfile,
  retryProfileFaults,
  type RetryMode,
  type RetryProfile,
} from '../src/index.ts'

const modes: readonly RetryMode[] = [
  'none',
  'inline',
  'blocking',
  'pausePartition',
  'retryDestination',
  'brokerDelayed',
]

describe('retryProfileFaults', () => {
  const able = {
    orderedStream: true,
    pausable: true,
    delayedDelivery: true,
    maxDelayMs: 600_000,
    nativeDeadLetter: true,
  }

  it.each<[string, RetryProfile, Partial<typeof able>, readonly [string, string]]>([
    [
      'preserve without an ordered stream',
      { ordering: 'preserve', destinationOrdered: true, mode: 'pausePartition' },
      { orderedStream: false },
      ["ordering 'preserve'", 'orderedStream'],
    ],
    [
      'preserve at a destination without order',
      { ordering: 'preserve', mode: 'pausePartition' },
      {},
      ["ordering 'preserve'", 'destinationOrdered'],
    ],
    [
      'pause on a transport that cannot pause',
      { mode: 'pausePartition' },
      { pausable: false },
      ["mode 'pausePartition'", 'pausable'],
    ],
    [
      'delayed and preserve',
      { mode: 'brokerDelayed', ordering: 'preserve', destinationOrdered: true },
      {},
      ["mode 'brokerDelayed'", "ordering 'preserve'"],
    ],
    [
      'delayed on a transport without delays',
      { mode: 'brokerDelayed' },
      { delayedDelivery: false },
      ["mode 'brokerDelayed'", 'delayedDelivery'],
    ],
    [
      'a backoff beyond the longest delay of the broker',
      { mode: 'brokerDelayed', maxAttempts: 4 },
      { maxDelayMs: 3999 },
      ['backoff, which grows to 4000 ms', 'maxDelayMs 3999'],
    ],
    [
      'a retry destination without allowReorder',
      { mode: 'retryDestination', retryDestination: 'r' },
      {},
      ["mode 'retryDestination'", "'allowReorder'"],
    ],
    [
      'a retry destination without a name',
      { mode: 'retryDestination', ordering: 'allowReorder' },
      {},
      ["mode 'retryDestination'", 'retryDestination, found none'],
    ],
    ['several attempts without a mode', { maxAttempts: 3 }, {}, ["mode 'none'", 'maxAttempts 3']],
    [
      'no place for dead letters',
      { mode: 'inline' },
      { nativeDeadLetter: false },
      ['deadLetterDestination', 'nativeDeadLetter'],
    ],
  ])('refuses %s and names both settings', (...[, profile, capabilities, [one, other]]) => {
    const faults = retryProfileFaults(profile, { ...able, ...capabilities })
    expect(faults.some((fault) => fault.includes(one) && fault.includes(other))).toBe(true)
  })

  it.each<[string, RetryProfile]>([
    ['the default', {}],
    ['inline', { mode: 'inline', maxAttempts: 3 }],
    ['pause and keep order', { mode: 'pausePartition', ordering: 'preserve', destinationOrdered: true }],
    ['retry destination', { mode: 'retryDestination', ordering: 'allowReorder', retryDestination: 'r' }],
    ['broker delayed', { mode: 'brokerDelayed' }],
  ])('takes %s', (_name, profile) => {
    expect(retryProfileFaults(profile, able)).toEqual([])
  })

  it('takes a backoff that the delay of the broker is long enough for', () => {
    const faults = (profile: RetryProfile): unknown =>
      retryProfileFaults(profile, { ...able, maxDelayMs: 4000 })
    expect(faults({ mode: 'brokerDelayed', maxAttempts: 4 })).toEqual([])
    expect(faults({ mode: 'brokerDelayed', backoff: { maxDelayMs: 4000 } })).toEqual([])
    expect(faults({ mode: 'brokerDelayed', maxAttempts: 1 })).toEqual([])
  })

  it('judges delays by the place that retry copies go to', () => {
    const profile = { mode: 'brokerDelayed', retryDestination: 'later' } as const
    const plain = { delayedDelivery: false, maxDelayMs: 0 }
    const [fault, ...others] = retryProfileFaults(profile, able, plain)
    expect(fault).toMatch(/mode 'brokerDelayed' .* of retryDestination later/)
    expect(others).toEqual([])
    expect(retryProfileFaults(profile, { ...able, ...plain }, able)).toEqual([])
  })

  it('takes preserve on an ordered stream that cannot pause: what failed is held where it is', () => {
    const profile = { mode: 'inline', ordering: 'preserve', destinationOrdered: true } as const
    expect(retryProfileFaults(profile, { ...able, pausable: false })).toEqual([])
  })

  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY])('refuses %p attempts', (maxAttempts) => {
    expect(retryProfileFaults({ mode: 'inline', maxAttempts }, able)).toHaveLength(1)
  })

  it('never lets a profile that it takes reach a reordering path under preserve', () => {
    fc.assert(
      fc.property(
        fc.record({
          mode: fc.constantFrom(...modes),
          maxAttempts: fc.integer({ min: 1, max: 5 }),
          destinationOrdered: fc.boolean(),
          retryDestination: fc.constant('r'),
          deadLetterDestination: fc.constant('d'),
          ordering: fc.constant('preserve' as const),
        }),
        fc.record({
          orderedStream: fc.boolean(),
          pausable: fc.boolean(),
          delayedDelivery: fc.boolean(),
          maxDelayMs: fc.constantFrom(0, 600_000),
          nativeDeadLetter: fc.boolean(),
        }),
        fc.constantFrom(...failureCategories),
        fc.integer({ min: 1, max: 6 }),
        (...[profile, capabilities, category, attempt]) => {
          if (retryProfileFaults(profile, capabilities).length > 0) return
          const { action } = decideRetry({
            category,
            attempt,
            profile: resolveRetryProfile(profile),
            capabilities,
          })
          expect(action).not.toBe('publishToRetryDestination')
          expect(action).not.toBe('retryInline')
        },
      ),
      { numRuns: 2000 },
    )
  })
})
