/* A consumer in a process of its own, which parks what it gets and dies at a step of the handoff. */
import { createConsumer } from '@litebus/consumer'
import { defineHandler, reject, type Transport } from '@litebus/core'
import { withDeliveries, withPublishes } from '../transports/altered-transport.ts'
import { connectTo } from '../transports/broker-address.ts'
import { orderPlaced } from '../transports/message-path.ts'
import { readHandoffSettings, type HandoffStep } from './handoff-settings.ts'

const { address, source, dead, step } = readHandoffSettings(process.env)
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
  transport: dying(connectTo(address, [source, dead])),
  source,
  retry: { deadLetterDestination: dead },
  handlers: [defineHandler({ contract: orderPlaced, handle: () => reject({ code: 'NO' }) })],
})
await consumer.start()
process.send?.('ready')
