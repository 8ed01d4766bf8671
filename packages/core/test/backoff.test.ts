import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { backoffDelayMs, backoffFaults, clampTimerMs, maxTimerMs, type BackoffOptions } from '../src/index.ts'

const anyNumber = fc.oneof(
  fc.double(),
  fc.integer(),
  fc.constantFrom(0, Infinity, -Infinity, Number.NaN, 1e308),
)
const options = fc.record<BackoffOptions>({
  kind: fc.constantFrom('exponential', 'fixed'),
  initialDelayMs: anyNumber,
  multiplier: anyNumber,
  maxDelayMs: anyNumber,
  jitter: fc.constantFrom('full', 'equal', 'none'),
}) as fc.Arbitrary<BackoffOptions>

describe('backoffDelayMs', () => {
  it('is finite, not negative and short enough for a timer, whatever it is given', () => {
    fc.assert(
      fc.property(
        anyNumber,
        options,
        fc.double({ min: 0, max: 0.999_999, noNaN: true }),
        (attempt, given, random) => {
          const delay = backoffDelayMs(attempt, given, () => random)
          expect(delay >= 0 && delay <= maxTimerMs).toBe(true)
        },
      ),
      { numRuns: 5000 },
    )
  })

  it.each([
    [1, 1000],
    [2, 2000],
    [3, 4000],
    [9, 256_000],
    [10, 300_000],
    [5000, 300_000],
  ])(
    'grows from one second by two to five minutes: attempt %i waits %i ms without jitter',
    (attempt, delay) => {
      expect(backoffDelayMs(attempt, { jitter: 'none' }, () => 0.5)).toBe(delay)
    },
  )

  it('spreads full jitter over [0, delay] and equal jitter over [delay / 2, delay]', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 20 }),
        fc.double({ min: 0, max: 0.999_999, noNaN: true }),
        (attempt, random) => {
          const whole = backoffDelayMs(attempt, { jitter: 'none' }, () => random)
          expect(backoffDelayMs(attempt, {}, () => random)).toBeCloseTo(random * whole, 5)
          expect(backoffDelayMs(attempt, { jitter: 'equal' }, () => random)).toBeCloseTo(
            whole / 2 + (random * whole) / 2,
            5,
          )
        },
      ),
    )
  })

  it('stays at the initial delay when fixed, and at 0 when that is 0', () => {
    expect(backoffDelayMs(50, { kind: 'fixed', initialDelayMs: 70, jitter: 'none' }, () => 0)).toBe(70)
    expect(backoffDelayMs(5000, { initialDelayMs: 0, jitter: 'none' }, () => 0)).toBe(0)
  })
})

describe('backoffFaults', () => {
  it('names every fault at once', () => {
    const wrong = { initialDelayMs: -1, multiplier: 0.5, maxDelayMs: Number.NaN, jitter: 'some' as 'full' }
    expect(backoffFaults('backoff', wrong)).toEqual([
      'expected backoff.initialDelayMs to be a finite number of at least 0, found -1',
      'expected backoff.multiplier to be a finite number of at least 1, found 0.5',
      'expected backoff.maxDelayMs to be a finite number of at least 0, found NaN',
      "expected backoff.jitter to be 'full', 'equal' or 'none', found some",
    ])
  })
})

describe('clampTimerMs', () => {
  it.each([
    [Number.NaN, 0],
    [-5, 0],
    [0, 0],
    [1.5, 1.5],
    [Infinity, maxTimerMs],
    [2 ** 31, maxTimerMs],
  ])('makes %p a delay of %p', (given, expected) => {
    expect(clampTimerMs(given)).toBe(expected)
  })
})
