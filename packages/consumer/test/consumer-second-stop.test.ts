import { describe, expect, it } from '@jest/globals'
import { bench, gate } from './arrange.ts'

describe('stopping a consumer', () => {
  it('again with a smaller budget tells handlers to end while they may still settle', async () => {
    const { clock, consumer, order } = bench()
    const subject = consumer(
      (_order, { signal }) =>
        new Promise<undefined>((resolve) => {
          signal.addEventListener('abort', () => {
            resolve(undefined)
          })
        }),
      { executionBudgetMs: 600_000 },
    )
    order('a')
    await subject.start()
    await clock.advance(1)
    const stopped = subject.stop({ budgetMs: 600_000 })
    await clock.advance(10)
    void subject.stop({ budgetMs: 1000 })
    await clock.advance(1000)
    expect(await stopped).toMatchObject({ outcome: 'forced', unsettled: 0, settlements: { acked: 1 } })
  })

  it('keeps the default budget where it is given as undefined', async () => {
    const { clock, consumer, order } = bench()
    const end = gate()
    const subject = consumer(() => end.promise)
    order('a')
    await subject.start()
    await clock.advance(1)
    const stopped = subject.stop({ budgetMs: undefined })
    await clock.advance(5000)
    end.open()
    await clock.advance(1)
    expect(await stopped).toMatchObject({ outcome: 'graceful', settlements: { acked: 1 } })
  })
})
