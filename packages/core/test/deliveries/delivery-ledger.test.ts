import { describe, expect, it } from '@jest/globals'
import { createDeliveryLedger, systemClock, type Clock, type Delivery, type SendResult } from '@litebus/core'

interface Calls {
  readonly sent: string[]
  result: SendResult | 'throws'
}

const facts = (messageId: string) => ({
  redelivered: false,
  message: { destination: 'q', messageId, body: new Uint8Array(), headers: {} },
})

/** A clock whose timers fire when told. */
function stoppedClock(): Clock & { fire(): void } {
  const pending = new Set<() => void>()
  return {
    ...systemClock,
    schedule(_, callback) {
      pending.add(callback)
      return { cancel: () => pending.delete(callback) }
    },
    fire() {
      for (const callback of [...pending]) callback()
    },
  }
}

function open(maxInFlight: number, onDelivery?: (delivery: Delivery) => void) {
  const calls: Calls = { sent: [], result: 'settled' }
  const deliveries: Delivery[] = []
  const faults: unknown[] = []
  const revocations: number[] = []
  const clock = stoppedClock()
  const send = (what: string) => async (ref: string) => {
    calls.sent.push(`${what} ${ref}`)
    await Promise.resolve()
    if (calls.result === 'throws') throw new Error('the driver broke')
    return calls.result
  }
  const ledger = createDeliveryLedger<string>({
    maxInFlight,
    clock,
    onDelivery: (delivery) => {
      deliveries.push(delivery)
      onDelivery?.(delivery)
    },
    onFault: (error) => faults.push(error),
    onRevoked: () => {
      revocations.push(ledger.inFlight)
    },
    driver: { accept: send('accept'), returnToQueue: send('return'), discard: send('discard') },
  })
  const add = (...ids: readonly string[]): void => {
    for (const id of ids) ledger.add(id, facts(id))
  }
  const handed = (): readonly (string | undefined)[] => deliveries.map(({ message }) => message.messageId)
  return { calls, deliveries, faults, revocations, clock, ledger, add, handed }
}

describe('the delivery ledger', () => {
  it('hands out in order, up to the cap, and makes room as soon as a settlement is sent', async () => {
    const { add, handed, deliveries, ledger } = open(2)
    add('1', '2', '3', '4')
    expect(handed()).toEqual(['1', '2'])
    const settling = deliveries[1]?.accept()
    expect(handed()).toEqual(['1', '2', '3'])
    expect([ledger.inFlight, ledger.buffered]).toEqual([2, 1])
    expect(await settling).toBe('settled')
  })

  it('gives the authority back after notSent and never after unknown or a driver that throws', async () => {
    const { add, deliveries, calls, ledger } = open(3)
    add('1', '2', '3')
    calls.result = 'notSent'
    expect(await deliveries[0]?.accept()).toBe('notSent')
    expect(ledger.inFlight).toBe(3)
    calls.result = 'unknown'
    expect(await deliveries[0]?.returnToQueue()).toBe('unknown')
    expect(await deliveries[0]?.accept()).toBe('revoked')
    calls.result = 'throws'
    expect(await deliveries[1]?.accept()).toBe('unknown')
    expect(await deliveries[1]?.discard({ reason: 'TEST' })).toBe('revoked')
    expect(calls.sent).toEqual(['accept 1', 'return 1', 'accept 2'])
  })

  it.each([
    ['settled', 0, 'revoked'],
    ['notSent', 3, 'settled'],
  ] as const)(
    'tells all that one request settles the same answer, %s, and one that comes after it too',
    async (result, heldAgain, second) => {
      const deliveries: Delivery[] = []
      const { promise: request, resolve: answer } = Promise.withResolvers<SendResult>()
      let sending: Promise<SendResult> = request
      const send = (): Promise<SendResult> => sending
      const ledger = createDeliveryLedger<string>({
        maxInFlight: 4,
        clock: systemClock,
        onDelivery: (delivery) => deliveries.push(delivery),
        onFault: () => undefined,
        driver: { accept: send, returnToQueue: send, discard: send },
      })
      for (const id of ['1', '2', '3', '4']) ledger.add(id, facts(id))
      const [first, , , last] = deliveries
      const together = deliveries.slice(0, 3).map((delivery) => delivery.accept())
      expect(ledger.inFlight).toBe(1)
      answer(result)
      expect(await Promise.all(together)).toEqual([result, result, result])
      expect(ledger.inFlight).toBe(1 + heldAgain)
      expect(await last?.accept()).toBe(result)
      expect(ledger.inFlight).toBe(result === 'notSent' ? 4 : 0)
      if (result === 'settled') await ledger.settled(AbortSignal.timeout(60_000))
      sending = Promise.resolve('settled')
      expect(await first?.accept()).toBe(second)
    },
  )

  it('sends nothing for a revoked delivery, tells of it, and forgets what it did not hand out', async () => {
    const { add, deliveries, calls, ledger, handed, revocations } = open(2)
    add('1', '2', '3')
    expect(ledger.revokeAll()).toBe(2)
    expect(revocations).toEqual([0])
    expect(await deliveries[0]?.accept()).toBe('revoked')
    expect(await deliveries[1]?.returnToQueue({ delayMs: 5 })).toBe('revoked')
    expect(calls.sent).toEqual([])
    add('4')
    expect(handed()).toEqual(['1', '2', '4'])
  })

  it('holds a return for its delay, and revokes it where the delivery is revoked meanwhile', async () => {
    const { add, deliveries, calls, ledger, clock } = open(2)
    add('1', '2')
    const first = deliveries[0]?.returnToQueue({ delayMs: 1000 })
    expect(calls.sent).toEqual([])
    expect(ledger.inFlight).toBe(2)
    clock.fire()
    expect(await first).toBe('settled')
    const second = deliveries[1]?.returnToQueue({ delayMs: 1000 })
    ledger.revokeAll()
    expect(await second).toBe('revoked')
    expect(calls.sent).toEqual(['return 1'])
  })

  it('does not hand out what is settled as notSent after it was revoked', async () => {
    const { add, deliveries, calls, ledger } = open(1)
    add('1')
    calls.result = 'notSent'
    const settling = deliveries[0]?.accept()
    ledger.revokeAll()
    await settling
    expect(ledger.inFlight).toBe(0)
  })

  it('hands out nothing while paused or closed, and gives back what nobody started', () => {
    const { add, handed, ledger } = open(2)
    ledger.pause()
    add('1', '2', '3')
    expect(handed()).toEqual([])
    ledger.resume()
    expect(handed()).toEqual(['1', '2'])
    expect(ledger.close()).toEqual(['3'])
    add('4')
    expect(handed()).toEqual(['1', '2'])
  })

  it('sends held returns at once when it closes', async () => {
    const { add, deliveries, calls, ledger } = open(1)
    add('1')
    const returning = deliveries[0]?.returnToQueue({ delayMs: 60_000 })
    ledger.close()
    expect(await returning).toBe('settled')
    expect(calls.sent).toEqual(['return 1'])
  })

  it('is settled when nothing is in flight and nothing on its way, or when told to give up', async () => {
    const { add, deliveries, ledger } = open(2)
    await ledger.settled(new AbortController().signal)
    add('1')
    const patience = new AbortController()
    let settled = false
    const waiting = ledger.settled(new AbortController().signal).then(() => {
      settled = true
    })
    const giveUp = ledger.settled(patience.signal)
    patience.abort()
    await giveUp
    expect(settled).toBe(false)
    await deliveries[0]?.accept()
    await waiting
  })

  it('reports what a receiver threw and gives the delivery back after a pause', async () => {
    const { add, faults, calls, clock } = open(1, () => {
      throw new Error('a receiver must not throw')
    })
    add('1')
    expect(faults).toHaveLength(1)
    expect(calls.sent).toEqual([])
    clock.fire()
    await new Promise((resolve) => setImmediate(resolve))
    expect(calls.sent).toEqual(['return 1'])
  })
})
