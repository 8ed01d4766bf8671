import { describe, expect, it } from '@jest/globals'
import { reject } from '@litebus/core'
import { bareCopy } from '../src/bare-copy.ts'
import { bench, contractHeaders } from './arrange.ts'

describe('dead letters of what was redriven', () => {
  it('keep the id of the redrive, and are not taken for the dead letter before it', async () => {
    const { clock, consumer, put, waiting } = bench([{ name: 'orders.dead', deduplicate: true }])
    const subject = consumer(() => reject({ code: 'NEVER' }))
    put({ messageId: 'a' })
    await subject.start()
    await clock.advance(1)
    put({ messageId: 'a', headers: { ...contractHeaders, 'msg.redrive-id': 'r1' } })
    await clock.advance(1)
    expect(waiting('orders.dead').map(({ headers }) => headers['msg.redrive-id'])).toEqual([undefined, 'r1'])
    await subject.stop()
  })
})

describe('the copy of what no broker can carry', () => {
  it('has the body, the hop and the contract, under an id that fits', () => {
    const copy = {
      destination: 'dead',
      messageId: 'x'.repeat(300),
      deduplicationId: 'hop',
      body: new Uint8Array([1]),
      headers: { ...contractHeaders, '': 'empty', note: 'dropped', 'msg.failure-code': 'NO' },
    }
    expect(bareCopy(copy)).toEqual({
      ...copy,
      messageId: 'hop',
      headers: { ...contractHeaders, 'msg.failure-code': 'NO' },
    })
    expect(bareCopy({ ...copy, messageId: 'a' }).messageId).toBe('a')
  })
})
