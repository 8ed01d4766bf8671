import { describe, expect, it } from '@jest/globals'
import { failureOfResult, maxTimerMs, reject, retry, type HandlerResult } from '../src/index.ts'

describe('failureOfResult', () => {
  it('takes nothing for success', () => {
    expect(failureOfResult(undefined)).toBeUndefined()
  })

  it.each<[string, HandlerResult, object]>([
    ['retry', retry({ code: 'later' }), { failure: { category: 'UNKNOWN', code: 'LATER' } }],
    [
      'retry with a delay',
      retry({ code: 'later', afterMs: 5 }),
      { failure: { category: 'UNKNOWN', code: 'LATER' }, retryAfterMs: 5 },
    ],
    ['reject', reject({ code: 'never' }), { failure: { category: 'REJECTED', code: 'NEVER' } }],
    [
      'a result that was not made by us',
      { kind: 'reject', code: 'free text!' },
      { failure: { category: 'REJECTED', code: 'FREE_TEXT_' } },
    ],
  ])('knows %s', (_name, result, expected) => {
    expect(failureOfResult(result)).toEqual(expected)
  })

  it.each([
    [Number.NaN, 0],
    [-1, 0],
    [Number.POSITIVE_INFINITY, maxTimerMs],
  ])('makes a delay of %p ms one that timers and stores keep', (afterMs, expected) => {
    expect(failureOfResult(retry({ code: 'X', afterMs }))?.retryAfterMs).toBe(expected)
  })

  it.each([null, 7, 'retry', {}, { kind: 'ok' }, []])(
    'takes %p for a mistake and not for success',
    (value) => {
      expect(failureOfResult(value as unknown as HandlerResult)).toEqual({
        failure: { category: 'CONFIGURATION', code: 'HANDLER_RESULT_INVALID' },
      })
    },
  )
})
