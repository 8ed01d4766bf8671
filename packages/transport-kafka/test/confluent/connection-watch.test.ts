import { describe, expect, it } from '@jest/globals'
import { createConnectionWatch } from '../../src/confluent/connection-watch.ts'

interface Counted {
  readonly state?: string
  readonly rx?: number
  readonly disconnects?: number
  readonly rxidle?: number
}

function arrange(): { readonly told: string[]; readonly see: (broker: Counted) => void } {
  const told: string[] = []
  const watch = createConnectionWatch({
    onLost: () => told.push('lost'),
    onAnswer: () => told.push('answer'),
  })
  return {
    told,
    see(broker) {
      watch.see(
        JSON.stringify({ brokers: { one: { state: 'UP', rx: 5, disconnects: 0, rxidle: 100, ...broker } } }),
      )
    },
  }
}

describe('the watch of connections in statistics', () => {
  it('tells of a connection that is lost, and of the first answer afterwards', () => {
    const { told, see } = arrange()
    see({})
    see({ rx: 6 })
    expect(told).toEqual([])
    see({ state: 'CONNECT', rx: 6, disconnects: 1 })
    expect(told).toEqual(['lost'])
    see({ state: 'CONNECT', rx: 6, disconnects: 1 })
    see({ rx: 6, disconnects: 1 })
    expect(told).toEqual(['lost'])
    see({ rx: 7, disconnects: 1 })
    see({ rx: 8, disconnects: 1 })
    expect(told).toEqual(['lost', 'answer'])
  })

  it('notices a connection that was lost and is up again between two looks', () => {
    const { told, see } = arrange()
    see({})
    see({ rx: 9, disconnects: 1 })
    see({ rx: 10, disconnects: 1 })
    expect(told).toEqual(['lost', 'answer'])
  })

  it('makes nothing of a connection that nobody used, and of one that it sees for the first time', () => {
    const { told, see } = arrange()
    see({ disconnects: 4, rxidle: 31_000_000 })
    see({ disconnects: 5, rxidle: 100 })
    expect(told).toEqual([])
  })

  it('survives what it cannot read', () => {
    const { told, see } = arrange()
    const watch = createConnectionWatch({ onLost: () => told.push('lost'), onAnswer: () => undefined })
    for (const text of ['', '{', '{}', 'null', '{"brokers":{}}']) watch.see(text)
    see({})
    expect(told).toEqual([])
  })
})
