import { describe, expect, it } from '@jest/globals'
import {
  classifyFailure,
  failureCode,
  InvocationError,
  PayloadError,
  StoreUnavailableError,
  type Failure,
} from '../src/index.ts'

const coded = (code: string): Error => Object.assign(new Error('password=hunter2'), { code })

describe('classifyFailure', () => {
  it.each<[string, unknown, Failure]>([
    ['a payload error', new PayloadError('x'), { category: 'DESERIALIZATION', code: 'PAYLOAD_INVALID' }],
    [
      'an unavailable store',
      new StoreUnavailableError('x'),
      { category: 'DEPENDENCY', code: 'STORE_UNAVAILABLE' },
    ],
    [
      'a wrapped error',
      new InvocationError('x', { cause: new PayloadError('y') }),
      { category: 'DESERIALIZATION', code: 'PAYLOAD_INVALID' },
    ],
    ['a refused connection', coded('ECONNREFUSED'), { category: 'DEPENDENCY', code: 'ECONNREFUSED' }],
    ['a timed-out connection', coded('ETIMEDOUT'), { category: 'TIMEOUT', code: 'ETIMEDOUT' }],
    [
      'a failed fetch',
      new TypeError('fetch failed', { cause: coded('ENOTFOUND') }),
      { category: 'DEPENDENCY', code: 'ENOTFOUND' },
    ],
    ['an abort', new DOMException('x', 'AbortError'), { category: 'CANCELLED', code: 'ABORTED' }],
    ['a timeout', new DOMException('x', 'TimeoutError'), { category: 'TIMEOUT', code: 'TIMEOUT' }],
    ['a bug', new TypeError('x of undefined'), { category: 'UNKNOWN', code: 'TYPEERROR' }],
    ['undefined', undefined, { category: 'UNKNOWN', code: 'THROWN_VALUE' }],
    ['text', 'secret', { category: 'UNKNOWN', code: 'THROWN_VALUE' }],
  ])('names %s', (_name, error, expected) => {
    expect(classifyFailure(error)).toEqual(expected)
  })
  it('asks the classifier of the user first and cleans its code', () => {
    expect(classifyFailure(new Error('x'), () => ({ category: 'THROTTLED', code: 'rate limit!' }))).toEqual({
      category: 'THROTTLED',
      code: 'RATE_LIMIT_',
    })
    expect(classifyFailure(new PayloadError('x'), () => undefined).category).toBe('DESERIALIZATION')
  })
  it('takes nothing from text, name or unknown codes of an error', () => {
    const planted = Object.assign(coded('hunter2'), { name: 'hunter2' })
    expect(JSON.stringify(classifyFailure(planted))).not.toMatch(/hunter2/i)
  })
  it('survives a classifier that throws and values that cannot be read', () => {
    const hostile = new Proxy(
      {},
      {
        get: () => {
          throw new Error('x')
        },
      },
    )
    expect(classifyFailure(hostile)).toEqual({ category: 'UNKNOWN', code: 'UNCLASSIFIABLE' })
    expect(
      classifyFailure(new Error('x'), () => {
        throw new Error('y')
      }),
    ).toEqual({ category: 'UNKNOWN', code: 'ERROR' })
  })

  it.each([null, 'TIMEOUT', { category: 'WEATHER', code: 'X' }, { category: 'TIMEOUT' }, Promise.resolve()])(
    'leaves the failure to the default rules when the classifier answers %p',
    (answer) => {
      expect(classifyFailure(new RangeError('x'), () => answer as never)).toEqual({
        category: 'UNKNOWN',
        code: 'RANGEERROR',
      })
    },
  )

  it.each([
    ['NOT_YET_KNOWN', { category: 'UNKNOWN', code: 'NOT_YET_KNOWN' }],
    ['toString', { category: 'UNKNOWN', code: 'TOSTRING' }],
    [undefined, { category: 'UNKNOWN', code: 'UNKNOWN' }],
  ])('knows an error of another copy of this package whose code is %p', (code, failure) => {
    const foreign = Object.assign(new Error('x'), { [Symbol.for('@litebus/error')]: true, code })
    expect(classifyFailure(foreign)).toEqual(failure)
  })
})

describe('failureCode', () => {
  it.each([
    ['OK_1.x-Y', 'OK_1.X-Y'],
    ['', 'UNKNOWN'],
    ['ä\n', '__'],
    ['x'.repeat(100), 'X'.repeat(64)],
  ])('makes %p the code %p', (text, code) => {
    expect(failureCode(text)).toBe(code)
  })
})
