/* A consumer in a process of its own, which hands over what it gets and dies at a step of the handoff. */
import { createConsumer } from '@litebus/consumer'
import { defineHandler, reject, retry, type Transport } from '@litebus/core'
import { withDeliveries, withPublishes } from '../transports/altered-transport.ts'
import { connectTo } from '../transports/broker-address.ts'
import { orderPlaced } from '../transports/message-path.ts'
import { retryByCopy, type HandoffSettings, type HandoffStep } from './handoff-settings.ts'
import { workerSettings } from './worker-settings.ts'

const settings = workerSettings() as HandoffSettings
const { address, source, dead, again, delays, step } = settings
const dieAt = (reached: HandoffStep): void => {
  if (reached === step) process.kill(process.pid, 'SIGKILL')
}

function dying(transport: Transport): Transport {
  const publishing = withPublishes(transport, (publish) => async (messages) => {
    dieAt('before the publish')
    const publishes = publish(messages)
    setImmediate(() => {
      dieAt('after the publish, before its confirm')
    })
    const outcomes = await publishes
    dieAt('after the confirm, before the accept')
    return outcomes
  })
  return withDeliveries(publishing, (delivery) => ({
    ...delivery,
    async accept() {
      const result = await delivery.accept()
      dieAt('after the accept')
      return result
    },
  }))
}

const consumer = createConsumer({
  transport: dying(connectTo(address, [source, dead, again], delays)),
  source,
  retry: retryByCopy(settings),
  handlers: [
    defineHandler({
      contract: orderPlaced,
      handle: () => (settings.hop === 'retry' ? retry({ code: 'LATER' }) : reject({ code: 'NO' })),
    }),
  ],
})
await consumer.start()
process.send?.('ready')
