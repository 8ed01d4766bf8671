import { expect, it } from '@jest/globals'
import { createAdminCalls } from '../src/admin-calls.ts'
import type { KafkaJsAdmin } from '../src/kafkajs/client-shape.ts'
import { isAnswer } from '../src/kafkajs/kafkajs-errors.ts'

/** Makes administrators whose calls fail once they are disconnected, as those of the client do. */
function administrators() {
  const made: { connected: boolean }[] = []
  const make = (): KafkaJsAdmin => {
    const admin = { connected: true }
    made.push(admin)
    return {
      connect: () => Promise.resolve(),
      disconnect() {
        admin.connected = false
        return Promise.resolve()
      },
      describeCluster: async () => {
        await new Promise((resolve) => setImmediate(resolve))
        if (!admin.connected) throw new Error('Closed connection')
        return { brokers: [] }
      },
    } as unknown as KafkaJsAdmin
  }
  return { made, make }
}

const missing = Object.assign(new Error('This server does not host this topic-partition'), {
  type: 'UNKNOWN_TOPIC_OR_PARTITION',
})

it('keeps the connection of other calls when one is answered with an error', async () => {
  const { made, make } = administrators()
  const admin = createAdminCalls({ make, isAnswer })
  const refused = admin.call(() => Promise.reject(new Error('retries exceeded', { cause: missing })))
  const other = admin.call((to) => to.describeCluster())
  await expect(refused).rejects.toThrow('retries exceeded')
  await expect(other).resolves.toEqual({ brokers: [] })
  expect(made).toEqual([{ connected: true }])
})

it('asks again over another connection when that of a first call was given up for another call', async () => {
  const { made, make } = administrators()
  const admin = createAdminCalls({ make, isAnswer })
  const first = admin.call((to) => to.describeCluster())
  let calls = 0
  const lost = admin.call((to) =>
    ++calls === 1 ? Promise.reject(new Error('Connection timeout')) : to.describeCluster(),
  )
  await expect(Promise.all([first, lost])).resolves.toEqual([{ brokers: [] }, { brokers: [] }])
  expect(made).toEqual([{ connected: false }, { connected: true }])
})

it('does not repeat a call that fails over a connection of its own', async () => {
  const { made, make } = administrators()
  const admin = createAdminCalls({ make, isAnswer })
  await expect(admin.call(() => Promise.reject(new Error('Connection timeout')))).rejects.toThrow('timeout')
  expect(made).toEqual([{ connected: false }])
})
