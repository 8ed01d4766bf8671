import { describe, expect, it } from '@jest/globals'
import { bench } from './arrange.ts'

describe('a source whose broker drops messages by itself', () => {
  const lossy = { name: 'billing', deliveryLimit: 3 }

  it('is refused, with the limit and the missing dead-letter target', () => {
    expect(() => bench([lossy]).ingress()).toThrow(/nativeDeadLetter.*billing.*deliveryLimit of 3/)
  })

  it('is taken with allowLossyLimit, and with a dead-letter target', async () => {
    await bench([lossy]).ingress({ allowLossyLimit: true }).stop()
    const subject = bench([{ ...lossy, deadLetter: 'billing.dead' }]).ingress()
    expect((await subject.stop()).outcome).toBe('graceful')
  })
})
