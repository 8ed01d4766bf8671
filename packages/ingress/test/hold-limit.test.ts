import { describe, expect, it } from '@jest/globals'
import { definedOptions, StoreUnavailableError, type TransportCapabilities } from '@litebus/core'
import { memoryTransport } from '@litebus/transport-memory'
import { bench } from './arrange.ts'
import type { IngressOptions } from '../src/index.ts'

describe('the hold limit', () => {
  const held = async (maxHoldMs: number | undefined, options: Partial<IngressOptions> = {}) => {
    const parts = bench()
    parts.before = () => {
      throw new StoreUnavailableError('down')
    }
    const transport = memoryTransport({ broker: parts.broker })
    const subject = parts.ingress({
      transport: {
        ...transport,
        capabilitiesOf(source) {
          const capabilities = { ...transport.capabilitiesOf(source), maxHoldMs }
          return definedOptions<TransportCapabilities>(capabilities)
        },
      },
      probe: () => Promise.reject(new Error('down')),
      ...options,
    })
    parts.order('a')
    await subject.start()
    return { parts, clock: parts.clock, subject }
  }

  it('is what the transport says that its source allows', async () => {
    const { subject, clock } = await held(60_000)
    await clock.advance(59_999)
    expect(subject.counts()).toMatchObject({ inFlight: 1, returned: 0 })
    await clock.advance(200)
    expect(subject.counts()).toMatchObject({ inFlight: 0, returned: 1 })
    await subject.stop()
  })

  it('is none where holding costs no redelivery: not even after hours does anything go back', async () => {
    const { subject, clock } = await held(Number.POSITIVE_INFINITY)
    await clock.advance(3 * 3600_000)
    expect(subject.counts()).toMatchObject({ deliveries: 1, inFlight: 1, returned: 0 })
    expect([subject.state, subject.pausedBy]).toEqual(['paused', ['store']])
    const stopped = subject.stop()
    await clock.advance(1)
    expect((await stopped).settlements).toMatchObject({ returned: 1, inFlight: 0 })
  })

  it.each([
    [undefined, {}],
    [Number.POSITIVE_INFINITY, { holdLimitMs: 20 * 60_000 }],
  ])('is 20 minutes where the transport says %p and the options %p', async (maxHoldMs, options) => {
    const { subject, clock } = await held(maxHoldMs, options)
    await clock.advance(20 * 60_000 - 1)
    expect(subject.counts()).toMatchObject({ inFlight: 1, returned: 0 })
    await clock.advance(200)
    expect(subject.counts()).toMatchObject({ inFlight: 0, returned: 1 })
    await subject.stop()
  })

  it('is followed by a probe; one that never answers is asked again, and is waited for by no stop', async () => {
    let asked = 0
    let down = true
    const probe = (): Promise<void> => {
      asked += 1
      return asked === 1 || down ? new Promise(() => undefined) : Promise.resolve()
    }
    const { subject, clock, parts } = await held(1000, { probe })
    await clock.advance(2000)
    expect([subject.state, asked]).toEqual(['suspended', 1])
    await clock.advance(31_000)
    expect([subject.state, asked]).toEqual(['suspended', 2])
    down = false
    parts.before = () => undefined
    await clock.advance(36_000)
    expect([subject.state, asked, subject.counts().acked]).toEqual(['consuming', 3, 1])
    const stopped = subject.stop()
    await clock.advance(1)
    expect((await stopped).outcome).toBe('graceful')
  })
})
