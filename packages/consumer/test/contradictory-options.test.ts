import { describe, expect, it } from '@jest/globals'
import type { ConsumerOptions } from '../src/index.ts'
import { bench, done } from './arrange.ts'

const deadLetterDestination = 'orders.dead'

describe('options that contradict each other', () => {
  it.each<[string, Partial<ConsumerOptions>, readonly string[]]>([
    ['fewer pushed ahead than handled', { concurrency: 10, prefetch: 1 }, ['prefetch', 'concurrency (10)']],
    [
      'one place for retries and dead letters',
      {
        retry: {
          mode: 'retryDestination',
          ordering: 'allowReorder',
          retryDestination: deadLetterDestination,
          deadLetterDestination,
        },
      },
      ['retryDestination', 'deadLetterDestination'],
    ],
    ['a budget that is neither options nor false', { timeoutBudget: true as never }, ['timeoutBudget']],
    [
      'a budget for a category that there is not',
      { timeoutBudget: { categories: ['TIMEOUTS' as never] } },
      ['timeoutBudget.categories', 'TIMEOUTS'],
    ],
    [
      'a word for onPermanent that there is not',
      { retry: { onPermanent: 'discard' as never, deadLetterDestination } },
      ['onPermanent', 'discard'],
    ],
  ])('are refused by name: %s', (_name, options, names) => {
    const { consumer } = bench()
    for (const name of names) expect(() => consumer(done, options)).toThrow(name)
  })
})
