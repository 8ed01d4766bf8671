import { defineContract, defineHandler } from '@litebus/core'
import { createInboxProcessor } from '@litebus/inbox'
import { postgresStorage } from '@litebus/storage-postgres'

const messages = Number(process.argv[2])
const contract = defineContract<unknown>({ name: 'order-placed', version: 1 })
const storage = postgresStorage({ connection: process.env['DATABASE_URL'] ?? '', schema: 'product' })
const { promise: done, resolve } = Promise.withResolvers<undefined>()
let handled = 0
const processor = createInboxProcessor({
  store: storage.inbox,
  handlers: [
    defineHandler({
      contract,
      handle: () => {
        handled += 1
        if (handled === messages) resolve(undefined)
        return undefined
      },
    }),
  ],
  batchSize: 500,
  concurrency: 500,
})
processor.start()
await done
await processor.stop()
await storage.close()
// Kilobytes; the highest that the process ever had.
process.send?.(process.resourceUsage().maxRSS * 1024)
process.disconnect()
