import { describe, expect, it } from '@jest/globals'
import {
  decideRetry,
  failureCategories,
  nonRetryableCategories,
  resolveRetryProfile,
  type FailureCategory,
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
const orderings = ['preserve', 'allowReorder', undefined] as const
const booleans = [true, false] as const

interface Case {
  readonly category: FailureCategory
  readonly attempt: number
  readonly maxAttempts: number
  readonly mode: RetryMode
  readonly ordering: 'preserve' | 'allowReorder' | undefined
  readonly ordered: boolean
  readonly orderedStream: boolean
  readonly delayedDelivery: boolean
  readonly flipped: boolean
  readonly onPermanent: 'deadLetter' | 'reject'
}

/** The decision order as a table: the first row whose condition holds. Written apart from the implementation. */
const table: readonly [number, string | undefined, (c: Case) => boolean][] = [
  [
    1,
    undefined,
    (c) =>
      [
        'DESERIALIZATION',
        'VALIDATION',
        'AUTHENTICATION',
        'AUTHORIZATION',
        'CONFIGURATION',
        'REJECTED',
      ].includes(c.category) && !c.flipped,
  ],
  [2, 'deadLetter', (c) => c.attempt >= c.maxAttempts],
  [3, 'pauseAndRetry', (c) => c.ordering === 'preserve' && c.ordered && c.orderedStream],
  [4, 'pauseAndRetry', (c) => c.mode === 'pausePartition'],
  [5, 'publishToRetryDestination', (c) => c.mode === 'retryDestination' && c.ordering === 'allowReorder'],
  [6, 'retryInline', (c) => c.mode === 'inline' || c.mode === 'blocking'],
  [7, 'publishToRetryDestination', (c) => c.mode === 'brokerDelayed' && c.delayedDelivery],
  [8, 'deadLetter', () => true],
]

function decide(c: Case): { action: string; step: number } {
  const profile: RetryProfile = {
    mode: c.mode,
    maxAttempts: c.maxAttempts,
    destinationOrdered: c.ordered,
    onPermanent: c.onPermanent,
    ...(c.ordering === undefined ? {} : { ordering: c.ordering }),
    ...(c.flipped ? { retryableCategories: [c.category] } : {}),
  }
  return decideRetry({
    category: c.category,
    attempt: c.attempt,
    profile: resolveRetryProfile(profile),
    capabilities: { orderedStream: c.orderedStream, delayedDelivery: c.delayedDelivery },
  })
}

function* everyCase(): Generator<Case> {
  for (const category of failureCategories)
    for (const [attempt, maxAttempts] of [
      [1, 1],
      [1, 3],
      [2, 3],
      [3, 3],
      [4, 3],
    ] as const)
      for (const mode of modes)
        for (const ordering of orderings)
          for (const ordered of booleans)
            for (const orderedStream of booleans)
              for (const delayedDelivery of booleans)
                for (const flipped of booleans)
                  for (const onPermanent of ['deadLetter', 'reject'] as const)
                    yield {
                      category,
                      attempt,
                      maxAttempts,
                      mode,
                      ordering,
                      ordered,
                      orderedStream,
                      delayedDelivery,
                      flipped,
                      onPermanent,
                    }
}

describe('decideRetry', () => {
  it('follows the decision order in every combination of category, attempt, profile and capability', () => {
    const stepsSeen = new Set<number>()
    for (const entry of everyCase()) {
      const row = table.find(([, , holds]) => holds(entry))
      const found = decide(entry)
      const expected = { action: row?.[1] ?? entry.onPermanent, step: row?.[0] }
      if (found.action !== expected.action || found.step !== expected.step) {
        throw new Error(
          `expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)} for ${JSON.stringify(entry)}`,
        )
      }
      stepsSeen.add(found.step)
    }
    expect([...stepsSeen].sort()).toEqual([1, 2, 3, 4, 5, 6, 7, 8])
  })

  it('parks an attempt that is no number instead of retrying for ever', () => {
    const profile = resolveRetryProfile({ mode: 'inline', maxAttempts: 3 })
    const capabilities = { orderedStream: false, delayedDelivery: false }
    expect(decideRetry({ category: 'UNKNOWN', attempt: Number.NaN, profile, capabilities }).action).toBe(
      'deadLetter',
    )
  })

  it('treats exactly the six permanent categories as not retryable', () => {
    expect(failureCategories.filter((category) => !nonRetryableCategories.has(category))).toEqual([
      'TIMEOUT',
      'DEPENDENCY',
      'THROTTLED',
      'CONFLICT',
      'CANCELLED',
      'UNKNOWN',
    ])
  })

  it('does not retry without a profile that says so', () => {
    const profile = resolveRetryProfile({})
    expect(profile).toMatchObject({ mode: 'none', maxAttempts: 1, onPermanent: 'deadLetter' })
    const capabilities = { orderedStream: true, delayedDelivery: true }
    expect(decideRetry({ category: 'TIMEOUT', attempt: 1, profile, capabilities })).toEqual({
      action: 'deadLetter',
      step: 2,
    })
  })
})
