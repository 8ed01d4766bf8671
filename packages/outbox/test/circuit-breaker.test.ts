import { describe, expect, it } from '@jest/globals'
import { publishFailures, type PublishOutcome, type Telemetry, noTelemetry } from '@litebus/core'
import { answering, bench, orderPlaced, type Bench } from './arrange.ts'

type Gauges = Map<string, () => number | undefined>

function gauged(): { readonly gauges: Gauges; readonly telemetry: Telemetry } {
  const gauges: Gauges = new Map()
  const observe: Telemetry['observe'] = ({ scope, name }, read, attributes) => {
    const key = `${scope} ${name} ${JSON.stringify(attributes)}`
    gauges.set(key, read)
    return () => {
      gauges.delete(key)
    }
  }
  return { gauges, telemetry: { ...noTelemetry, observe } }
}

const gaugeName = (name: string): string =>
  `LiteBus.Transport litebus.transport.circuit_breaker.${name} {"litebus.transport.broker":"amqp"}`

async function fill({ outbox }: Bench, destination: string, count: number): Promise<void> {
  for (let number = 0; number < count; number++)
    await outbox.enqueue(orderPlaced, { id: String(number) }, { topic: destination })
}

const lost: PublishOutcome = { status: 'unavailable', failure: publishFailures.connectionLost }

describe('the circuit breakers of an outbox', () => {
  it('show how many destinations are open and how many failures there are, until the processor stops', async () => {
    const all = bench()
    const { gauges, telemetry } = gauged()
    let failing = true
    const transport = {
      ...answering(all.transport, ({ destination }) =>
        failing && destination === 'orders' ? lost : { status: 'confirmed' },
      ),
      system: 'rabbitmq',
    }
    const subject = all.relay({ transport, telemetry, circuitBreaker: { failureThreshold: 3 } })
    const read = (name: string): number | undefined => gauges.get(gaugeName(name))?.()
    await fill(all, 'orders', 2)
    await fill(all, 'other', 2)
    await subject.processPending()
    expect([read('open'), read('failure_count')]).toEqual([0, 2])
    await all.clock.advance(2000)
    await subject.processPending()
    expect([read('open'), read('failure_count')]).toEqual([1, 4])
    failing = false
    await all.clock.advance(2000)
    expect(await subject.processPending()).toMatchObject({ succeeded: 2 })
    expect([read('open'), read('failure_count')]).toEqual([0, 0])
    await subject.stop()
    expect(gauges.has(gaugeName('open'))).toBe(false)
  })

  it.each([publishFailures.cancelled, publishFailures.closed, publishFailures.orderHeld])(
    'do not count %j, which is the doing of this side',
    async (failure) => {
      const all = bench()
      const { gauges, telemetry } = gauged()
      const transport = {
        ...answering(all.transport, (): PublishOutcome => ({ status: 'unavailable', failure })),
        system: 'rabbitmq',
      }
      await fill(all, 'orders', 20)
      const subject = all.relay({ transport, telemetry, circuitBreaker: { failureThreshold: 1 } })
      expect(await subject.processPending()).toMatchObject({ released: 20 })
      expect(gauges.get(gaugeName('failure_count'))?.()).toBe(0)
      await subject.stop()
    },
  )

  it('count a publish that our own deadline ended, and give its attempt back', async () => {
    const all = bench()
    const { gauges, telemetry } = gauged()
    all.broker.faults.setBlocked(true)
    await fill(all, 'orders', 3)
    const transport = { ...all.transport, system: 'rabbitmq' }
    const subject = all.relay({
      transport,
      telemetry,
      publishTimeoutMs: 1000,
      circuitBreaker: { failureThreshold: 3 },
    })
    const pass = subject.processPending()
    await all.clock.advance(1500)
    expect(await pass).toMatchObject({ released: 3, failed: 0 })
    expect(gauges.get(gaugeName('open'))?.()).toBe(1)
    await subject.stop()
  })

  it('republish what is ambiguous one at a time, so that one message cannot take the attempts of others', async () => {
    const all = bench()
    let underWay = 0
    let most = 0
    let poisoned = 0
    const transport = {
      ...all.transport,
      publisher: {
        async publish(messages: readonly { readonly messageId: string; readonly body: Uint8Array }[]) {
          const first = messages.length > 1
          underWay += 1
          most = Math.max(most, underWay)
          await new Promise((resolve) => setImmediate(resolve))
          underWay -= 1
          return messages.map(({ body }): PublishOutcome => {
            const poison = Buffer.from(body).toString() === '{"id":"2"}'
            if (poison) poisoned += 1
            return first || poison
              ? { status: 'ambiguous', failure: publishFailures.connectionLost }
              : { status: 'confirmed' }
          })
        },
      },
    }
    await fill(all, 'orders', 6)
    const pass = await all.relay({ transport }).processPending()
    expect(pass).toMatchObject({ succeeded: 5, failed: 1 })
    expect([most, poisoned]).toEqual([1, 2])
  })

  it('refuse options that are not valid', () => {
    const { relay } = bench()
    expect(() => relay({ circuitBreaker: { failureThreshold: 0 } })).toThrow(/failureThreshold/u)
  })
})
