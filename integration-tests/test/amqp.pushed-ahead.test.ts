import { expect, it } from '@jest/globals'
import { createIngress } from '@litebus/ingress'
import { createInbox } from '@litebus/inbox'
import { memoryStorage } from '@litebus/storage-memory'
import { amqpTransport } from '@litebus/transport-amqp'
import { connect } from 'amqplib'
import { describeWithServices } from '../services/describe-with-services.ts'
import { eventually, startTcpProxy } from '../services/index.ts'
import { contractHeaders, orderBody, orderPlaced } from '../transports/message-path.ts'

await describeWithServices(
  'what RabbitMQ has sent of a key before it hears that the first of it goes back',
  ['rabbitmq'],
  ({ rabbitmq }) => {
    it.each(['quorum', 'classic'] as const)(
      'is accepted behind that one, from a %s queue with a single active consumer',
      async (kind) => {
        await using resources = new AsyncDisposableStack()
        const vhost = resources.use(await rabbitmq.createVhost())
        const proxy = resources.use(await startTcpProxy({ port: Number(new URL(vhost.url).port || 5672) }))
        const source = `${vhost.prefix}orders`
        const transport = resources.use(
          amqpTransport({
            url: proxy.through(vhost.url),
            topology: {
              queues: [
                {
                  name: source,
                  kind,
                  singleActiveConsumer: true,
                  ...(kind === 'quorum' && { deliveryLimit: 10 }),
                },
              ],
            },
          }),
        )
        await transport.probe(source)
        const admin = await connect(vhost.url)
        resources.defer(() => admin.close())
        const channel = await admin.createConfirmChannel()
        const publish = async (...ids: readonly string[]): Promise<void> => {
          for (const messageId of ids) {
            const headers = { ...contractHeaders, 'litebus-ordering-key': 'customer' }
            channel.sendToQueue(source, Buffer.from(orderBody(messageId)), { messageId, headers })
          }
          await channel.waitForConfirms()
        }
        const ready = async (): Promise<number> => (await channel.checkQueue(source)).messageCount

        const { inbox } = memoryStorage()
        const written: string[] = []
        const first = Promise.withResolvers<undefined>()
        let tries = 0
        const ingress = createIngress({
          transport,
          source,
          inbox: createInbox({
            contracts: [orderPlaced],
            store: {
              axis: 'inbox',
              async append(messages, options) {
                const [id = ''] = messages.map(({ sourceId = '' }) => sourceId)
                if (id === 'a' && tries++ === 0) await first.promise
                const results = await inbox.append(messages, options)
                written.push(id)
                return results
              },
            },
          }),
          contracts: [orderPlaced],
          requeueBackoff: { initialDelayMs: 0, maxDelayMs: 0 },
          allowLossyLimit: true,
        })
        await publish('a', 'b')
        await ingress.start()
        await eventually(
          () => {
            expect([tries, ingress.counts().deliveries]).toEqual([1, 2])
          },
          { expectation: 'both deliveries' },
        )
        proxy.holdAnswers()
        await publish('c', 'd')
        await eventually(
          async () => {
            expect(await ready()).toBe(0)
          },
          { expectation: 'the broker to have sent the others' },
        )
        first.reject(new Error('this passes'))
        await eventually(
          () => {
            expect(ingress.counts().returned).toBe(1)
          },
          { expectation: 'the first to go back' },
        )
        await publish('e')
        proxy.resume()
        await eventually(
          () => {
            expect(ingress.counts().acked).toBe(5)
          },
          { expectation: 'all of them' },
        )
        expect(written).toEqual(['a', 'b', 'c', 'd', 'e'])
        expect(ingress.counts().discarded).toBe(0)
        await ingress.stop()
      },
    )
  },
)
