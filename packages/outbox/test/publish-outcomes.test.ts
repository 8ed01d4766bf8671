import { describe, expect, it } from '@jest/globals'
import { publishFailures, type OutboundMessage, type PublishOutcome } from '@litebus/core'
import { answering, bench, id, orderPlaced } from './arrange.ts'

const confirmed: PublishOutcome = { status: 'confirmed' }
const ambiguous: PublishOutcome = { status: 'ambiguous', failure: publishFailures.connectionLost }

describe('a publish that is', () => {
  it('confirmed completes the message', async () => {
    const { outbox, relay, stands } = bench()
    const receipt = await outbox.enqueue(orderPlaced, { id: '1' })
    await relay().processPending()
    expect(await stands(receipt.id)).toBe('succeeded 1')
  })

  it('rejected spends an attempt, and the last one parks the message', async () => {
    const { broker, clock, outbox, relay, storage, stands } = bench()
    broker.faults.failNextPublish({ status: 'rejected', times: 2 })
    const receipt = await outbox.enqueue(orderPlaced, { id: '1' })
    const subject = relay({ maxAttempts: 2 })
    await subject.processPending()
    expect(await stands(receipt.id)).toBe('retryScheduled 1')
    await clock.advance(1000)
    await subject.processPending()
    expect(await stands(receipt.id)).toBe('parked 2')
    expect((await storage.outbox.get(receipt.id))?.failures.map(({ code }) => code)).toEqual([
      'BROKER_REFUSED',
      'BROKER_REFUSED',
    ])
  })

  it('rejected because it can never be taken parks the message at once', async () => {
    const { outbox, relay, stands, transport } = bench()
    const receipt = await outbox.enqueue(orderPlaced, { id: '1' })
    const refuse = answering(transport, () => ({
      status: 'rejected',
      failure: publishFailures.messageTooLarge,
    }))
    await relay({ transport: refuse }).processPending()
    expect(await stands(receipt.id)).toBe('parked 1')
  })

  it.each([
    ['stored', true, 2],
    ['not stored', false, 1],
  ])('ambiguous (%s) is published once more, alone, and completes', async (_name, stored, copies) => {
    const { broker, outbox, relay, transport, waiting } = bench()
    broker.faults.failNextPublish({ status: 'ambiguous', stored })
    await outbox.enqueueBatch(
      ['1', '2', '3'].map((number) => ({ contract: orderPlaced, message: { id: number } })),
    )
    expect((await relay().processPending()).succeeded).toBe(3)
    expect(transport.calls.map((call) => call.length)).toEqual([3, 1])
    expect(transport.probes).toEqual(['orders'])
    const first = transport.calls[0]?.[0]?.messageId
    expect(waiting('orders').filter(({ messageId }) => messageId === first)).toHaveLength(copies)
  })

  it('ambiguous for many is asked about once and republished each in a call of its own', async () => {
    const { broker, outbox, relay, transport } = bench()
    broker.faults.failNextPublish({ status: 'ambiguous', times: 5 })
    await outbox.enqueueBatch(
      ['1', '2', '3', '4', '5'].map((number) => ({ contract: orderPlaced, message: { id: number } })),
    )
    expect((await relay().processPending()).succeeded).toBe(5)
    expect(transport.calls.map((call) => call.length)).toEqual([5, 1, 1, 1, 1, 1])
    expect(transport.probes).toEqual(['orders'])
  })

  it('ambiguous again spends an attempt', async () => {
    const { broker, outbox, relay, stands } = bench()
    broker.faults.failNextPublish({ status: 'ambiguous', times: 2 })
    const receipt = await outbox.enqueue(orderPlaced, { id: '1' })
    expect(await relay().processPending()).toMatchObject({ failed: 1 })
    expect(await stands(receipt.id)).toBe('retryScheduled 1')
  })

  it('ambiguous while the destination cannot be reached gives the attempt back', async () => {
    const { outbox, relay, stands, transport } = bench()
    const receipt = await outbox.enqueue(orderPlaced, { id: '1' })
    const lost = { ...answering(transport, () => ambiguous), probe: () => Promise.reject(new Error('gone')) }
    expect(await relay({ transport: lost }).processPending()).toMatchObject({ released: 1, failed: 0 })
    expect(await stands(receipt.id)).toBe('awaiting 0')
  })

  it('never answered is ambiguous after publishTimeoutMs', async () => {
    const { broker, clock, outbox, relay, stands, waiting } = bench()
    const confirm = broker.faults.holdConfirms()
    const receipt = await outbox.enqueue(orderPlaced, { id: '1' })
    const pass = relay({ publishTimeoutMs: 1000 }).processPending()
    await clock.advance(1500)
    expect(waiting('orders')).toHaveLength(2)
    confirm()
    expect(await pass).toMatchObject({ succeeded: 1 })
    expect(await stands(receipt.id)).toBe('succeeded 1')
  })

  it('answered by a throw, or for fewer messages than were given, is ambiguous for those', async () => {
    const { outbox, relay, transport } = bench()
    await outbox.enqueueBatch(
      ['1', '2'].map((number) => ({ contract: orderPlaced, message: { id: number } })),
    )
    let call = 0
    const broken = {
      ...transport,
      publisher: {
        publish: (messages: readonly OutboundMessage[]) => {
          call += 1
          if (call === 1) return Promise.resolve([confirmed])
          if (call === 2) return Promise.reject(new Error('bug'))
          return Promise.resolve(messages.map(() => confirmed))
        },
      },
    }
    expect(await relay({ transport: broken }).processPending()).toMatchObject({ succeeded: 1, failed: 1 })
  })
})

describe('messages of one ordering key', () => {
  it('wait behind one that was rejected, and are published in order', async () => {
    const { clock, outbox, relay, transport } = bench()
    for (const number of [1, 2, 3]) {
      await outbox.enqueue(orderPlaced, { id: String(number) }, { orderingKey: 'k', messageId: id(number) })
    }
    const published: string[] = []
    let refusals = 2
    const flaky = answering(transport, ({ messageId }) => {
      if (messageId === id(2) && refusals-- > 0)
        return { status: 'rejected', failure: publishFailures.brokerRefused }
      published.push(messageId)
      return confirmed
    })
    const subject = relay({ transport: flaky })
    expect(await subject.processPending()).toMatchObject({ succeeded: 1, failed: 1, released: 1 })
    await clock.advance(1000)
    await subject.processPending()
    await clock.advance(2000)
    expect((await subject.processPending()).succeeded).toBe(2)
    expect(published).toEqual([id(1), id(2), id(3)])
  })

  it('behind one that was parked wait until an operator has decided', async () => {
    const { clock, outbox, relay, storage, transport } = bench()
    for (const number of [1, 2]) {
      await outbox.enqueue(orderPlaced, { id: String(number) }, { orderingKey: 'k', messageId: id(number) })
    }
    let broken = true
    const published: string[] = []
    const subject = relay({
      maxAttempts: 1,
      transport: answering(transport, ({ messageId }) => {
        if (broken) return { status: 'rejected', failure: publishFailures.brokerRefused }
        published.push(messageId)
        return confirmed
      }),
    })
    expect(await subject.processPending()).toMatchObject({ deadLettered: 1, released: 1 })
    broken = false
    await clock.advance(60_000)
    expect((await subject.processPending()).leased).toBe(0)
    await storage.outbox.requeue({ ids: [id(1)] })
    expect((await subject.processPending()).succeeded).toBe(2)
    expect(published).toEqual([id(1), id(2)])
  })

  it('of two tenants in one call do not close the destination when one holds back the other', async () => {
    const { broker, clock, logged, outbox, relay } = bench()
    broker.faults.failNextPublish({ status: 'rejected' })
    for (const tenantId of ['a', 'b']) {
      await outbox.enqueue(orderPlaced, { id: tenantId }, { orderingKey: 'k', tenantId })
    }
    const subject = relay()
    expect(await subject.processPending()).toMatchObject({ failed: 1, released: 1 })
    expect(logged).toEqual([])
    await clock.advance(1)
    expect((await subject.processPending()).succeeded).toBe(1)
  })
})
