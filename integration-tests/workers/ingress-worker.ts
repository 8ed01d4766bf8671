/* An ingress in a process of its own, which dies at a step of taking its first deliveries. */
import type { Inbox } from '@litebus/core'
import { createInbox } from '@litebus/inbox'
import { createIngress } from '@litebus/ingress'
import { postgresStorage } from '@litebus/storage-postgres'
import pg from 'pg'
import { withDeliveries } from '../transports/altered-transport.ts'
import { connectTo } from '../transports/broker-address.ts'
import { orderPlaced } from '../transports/message-path.ts'
import type { IngressSettings, IngressStep } from './ingress-settings.ts'
import { workerSettings } from './worker-settings.ts'

const { address, source, databaseUrl, batchSize, step } = workerSettings() as IngressSettings
const dieAt = (reached: IngressStep): void => {
  if (reached === step) process.kill(process.pid, 'SIGKILL')
}
const dying = async <T>(write: () => Promise<T>): Promise<T> => {
  dieAt('before the store has anything')
  const written = await write()
  dieAt('after the commit, before the broker hears of it')
  return written
}

const pool = new pg.Pool({ connectionString: databaseUrl })
const storage = postgresStorage({ pool, listen: false })
const stored = createInbox({ store: storage.inbox, contracts: [orderPlaced] })
const inbox: Inbox<never> = {
  accept: (contract, message, options) => dying(() => stored.accept(contract, message, options)),
  acceptBatch: (items, options) => dying(() => stored.acceptBatch(items, options)),
}
const ingress = createIngress({
  transport: withDeliveries(connectTo(address, [source]), (delivery) => ({
    ...delivery,
    async accept() {
      const result = await delivery.accept()
      dieAt('after the broker has heard of the first one')
      return result
    },
  })),
  source,
  inbox,
  contracts: [orderPlaced],
  identity: 'message',
  maxInFlightMessages: 8,
  batch: { enabled: batchSize > 1, size: batchSize, maxWaitMs: 2000 },
})
const told = Promise.withResolvers<undefined>()
process.send?.('ready', () => {
  told.resolve(undefined)
})
await told.promise
await ingress.start()
