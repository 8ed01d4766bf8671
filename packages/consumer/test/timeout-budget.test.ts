import { describe, expect, it } from '@jest/globals'
import { OptionsError, reject, retry, type FailureClassifier } from '@litebus/core'
import { bench } from './arrange.ts'

class NoAnswer extends Error {
  readonly category: 'TIMEOUT' | 'DEPENDENCY'
  constructor(category: 'TIMEOUT' | 'DEPENDENCY') {
    super('no answer')
    this.category = category
  }
}
const noAnswer = (): never => {
  throw new NoAnswer('DEPENDENCY')
}
const classifier: FailureClassifier = (error) =>
  error instanceof NoAnswer ? { category: error.category, code: 'NO_ANSWER' } : undefined
const ids = (messages: readonly { readonly messageId?: string }[]) =>
  messages.map(({ messageId }) => messageId)

describe('parking for want of an answer', () => {
  it.each(['TIMEOUT', 'DEPENDENCY'] as const)(
    'of category %s stops after one message: the next is held, intake stands still, and nothing more is parked',
    async (category) => {
      const { broker, clock, consumer, order, waiting, logged } = bench()
      const subject = consumer(
        () => {
          throw new NoAnswer(category)
        },
        { classifier },
      )
      order('a', 'b', 'c')
      await subject.start()
      await clock.advance(60_000)
      expect([subject.state, subject.pausedBy]).toEqual(['paused', ['dependency']])
      expect(ids(waiting('orders.dead'))).toEqual(['a'])
      expect(broker.count('orders')).toMatchObject({ ready: 1, unsettled: 1 })
      expect(logged.filter(({ message }) => message.startsWith('no more messages are parked'))).toHaveLength(
        1,
      )
      await subject.stop()
      expect(broker.count('orders').ready).toBe(2)
    },
  )

  it('goes on by itself when the dependency answers, without having spent the attempt', async () => {
    const { clock, consumer, order, seen, waiting } = bench()
    let down = true
    const subject = consumer(() => (down ? noAnswer() : undefined), { classifier })
    order('a', 'b', 'c')
    await subject.start()
    await clock.advance(10_000)
    down = false
    await clock.advance(30_000)
    expect(subject.counts()).toMatchObject({ acked: 2, acked_dead_letter: 1, inFlight: 0 })
    expect(subject.pausedBy).toEqual([])
    expect(ids(waiting('orders.dead'))).toEqual(['a'])
    expect(new Set(seen.map(({ context }) => context.attempt))).toEqual(new Set([1]))
    await subject.stop()
  })

  it('parks one more each time the refill has passed, and one for each success, up to the most', async () => {
    const { clock, consumer, order, waiting } = bench()
    const subject = consumer(({ id }) => (id.startsWith('ok') ? undefined : noAnswer()), {
      classifier,
      timeoutBudget: { refillMs: 60_000, max: 3 },
    })
    order('a', 'b')
    await subject.start()
    await clock.advance(59_000)
    expect(ids(waiting('orders.dead'))).toEqual(['a'])
    await clock.advance(31_000)
    expect(ids(waiting('orders.dead'))).toEqual(['a', 'b'])
    order('ok1', 'ok2', 'ok3', 'ok4', 'ok5', 'c', 'd', 'e', 'f')
    await clock.advance(1000)
    expect(ids(waiting('orders.dead'))).toEqual(['a', 'b', 'c', 'd', 'e'])
    expect(subject.pausedBy).toEqual(['dependency'])
    await subject.stop()
  })

  it('does not hold up what is permanent, and not what failed for another reason', async () => {
    const { clock, consumer, order, waiting } = bench()
    const subject = consumer(({ id }) => (id === 'r' ? reject({ code: 'NO' }) : retry({ code: 'LATER' })))
    order('r', 'b', 'c', 'd')
    await subject.start()
    await clock.advance(1000)
    expect(ids(waiting('orders.dead'))).toEqual(['r', 'b', 'c', 'd'])
    await subject.stop()
  })

  it('gives everything that is held back at the hold limit, each once, and does not subscribe before one may be parked', async () => {
    const { broker, clock, consumer, order, waiting } = bench()
    const subject = consumer(noAnswer, { classifier, concurrency: 3, holdLimitMs: 120_000 })
    order('a', 'b', 'c', 'd')
    await subject.start()
    await clock.advance(119_000)
    expect(subject.state).toBe('paused')
    await clock.advance(2000)
    expect(subject.state).toBe('suspended')
    expect(subject.counts()).toMatchObject({ acked_dead_letter: 1, inFlight: 0, unresolved: 0 })
    expect(broker.count('orders')).toMatchObject({ ready: 3, unsettled: 0 })
    await clock.advance(5 * 60_000)
    expect(ids(waiting('orders.dead'))).toHaveLength(2)
    await subject.stop()
  })

  it('switched off parks whatever fails', async () => {
    const { clock, consumer, order, waiting } = bench()
    const subject = consumer(noAnswer, { classifier, timeoutBudget: false })
    order('a', 'b', 'c')
    await subject.start()
    await clock.advance(1000)
    expect(ids(waiting('orders.dead'))).toEqual(['a', 'b', 'c'])
    await subject.stop()
  })

  it('refuses numbers that make no sense, all at once', () => {
    const { consumer } = bench()
    const wrong = () => consumer(noAnswer, { timeoutBudget: { refillMs: 0, perSuccess: -1, max: 0 } })
    expect(wrong).toThrow(OptionsError)
    expect(wrong).toThrow(/refillMs.*perSuccess.*max/su)
  })
})
