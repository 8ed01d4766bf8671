import { defineContract, type Transport } from '@litebus/core'
import { createInbox } from '@litebus/inbox'
import { createIngress, type Ingress } from '@litebus/ingress'
import { postgresStorage } from '@litebus/storage-postgres'
import { contractName, type IngressRound, type OwnSide } from './broker-round.ts'

const contract = defineContract<unknown>({ name: contractName, version: 1 })

/** Transport, ingress, inbox; batches on, as its README advises for throughput. */
export async function ingressProduct(round: IngressRound, transport: Transport): Promise<OwnSide> {
  const { databaseUrl, queue, kind, messages, batch, prefetch } = round
  const storage = postgresStorage({ connection: databaseUrl, schema: `product_${kind}` })
  await storage.schema.migrate()
  await transport.probe(queue.name)
  let ingress: Ingress | undefined
  return {
    name: `product, ${kind}`,
    prepare: () => queue.fill(kind, messages),
    async run() {
      const { promise: done, resolve } = Promise.withResolvers<undefined>()
      let settled = 0
      ingress = createIngress({
        transport,
        source: queue.name,
        inbox: createInbox({ store: storage.inbox, contracts: [contract] }),
        contracts: [contract],
        maxInFlightMessages: prefetch,
        batch: { enabled: true, size: batch, maxWaitMs: 20 },
        telemetry: countingSettlements(() => {
          settled += 1
          if (settled === messages) resolve(undefined)
        }),
      })
      await ingress.start()
      await done
      return ingress.counts().acked
    },
    async end() {
      await ingress?.stop()
    },
    async [Symbol.asyncDispose]() {
      await transport.close()
      await storage.close()
    },
  }
}

function countingSettlements(
  onSettled: () => void,
): NonNullable<Parameters<typeof createIngress>[0]['telemetry']> {
  return {
    count: ({ name }, _value, attributes) => {
      if (name === 'litebus.consumer.settlements') {
        if (attributes?.['outcome'] !== 'acked') throw new Error('expected every delivery to be acknowledged')
        onSettled()
      }
    },
    record: () => undefined,
    observe: () => () => undefined,
    startSpan: () => ({ setAttributes: () => undefined, fail: () => undefined, end: () => undefined }),
  }
}
