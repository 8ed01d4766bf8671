import { describe, expect, it } from '@jest/globals'
import { bench, done } from './arrange.ts'

describe('a source whose broker drops messages by itself', () => {
  const lossy = { name: 'orders', deliveryLimit: 3 }

  it('is refused, with the limit and the missing dead-letter target', () => {
    const { consumer } = bench([lossy])
    expect(() => consumer(done)).toThrow(/nativeDeadLetter.*orders.*deliveryLimit of 3/)
  })

  it('is taken with allowLossyLimit, with a dead-letter target, and without a limit', async () => {
    await bench([lossy]).consumer(done, { allowLossyLimit: true }).stop()
    await bench([{ ...lossy, deadLetter: 'orders.dead' }])
      .consumer(done)
      .stop()
    const subject = bench([{ name: 'orders' }]).consumer(done)
    expect((await subject.stop()).outcome).toBe('graceful')
  })
})
