import { expect, it } from '@jest/globals'
import { connect } from 'amqplib'
import pg from 'pg'
import { startService } from '../processes/service-process.ts'
import { describeWithServices } from '../services/describe-with-services.ts'
import { eventually } from '../services/index.ts'

const contract = { 'litebus-contract-name': 'order-placed', 'litebus-contract-version': '1' }
const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value))

async function messagesIn(url: string, queue: string): Promise<number> {
  const connection = await connect(url)
  try {
    const channel = await connection.createChannel()
    return (await channel.checkQueue(queue)).messageCount
  } finally {
    await connection.close()
  }
}

await describeWithServices(
  'publishers that are not LiteBus',
  ['postgres', 'rabbitmq', 'foreignPublishers'],
  ({ postgres, rabbitmq, foreignPublishers: { pika, amqpTools } }) => {
    it('are handled when they send id and contract, and otherwise discarded with event 3005 while the service goes on', async () => {
      await using database = await postgres.createDatabase()
      await using vhost = await rabbitmq.createVhost()
      const queue = `${vhost.prefix}billing.orders`
      await using billing = await startService('billing', {
        DATABASE_URL: database.url,
        AMQP_URL: vhost.url,
        QUEUE: queue,
      })
      const pool = new pg.Pool({ connectionString: database.url, max: 1 })
      await using cleanup = new AsyncDisposableStack()
      cleanup.defer(() => pool.end())
      const invoiced = async (): Promise<string[]> => {
        const { rows } = await pool.query<{ order_id: string }>(
          'select order_id from invoices order by order_id',
        )
        return rows.map((row) => row.order_id)
      }
      const discarded = (): unknown[] =>
        billing.log.filter(({ eventId }) => eventId === 3005).map(({ code }) => code)

      await pika(vhost.url, [
        { queue, body: json({ orderId: 'pika-1 ž' }), headers: contract, messageId: 'p-1' },
        {
          queue,
          body: json({ orderId: 'pika-2' }),
          headers: { ...contract, 'litebus-contract-version': 1, nested: { a: [1, 2] } },
          messageId: 'p-2',
        },
        { queue, body: json({ orderId: 'pika-1 ž' }), headers: contract, messageId: 'p-1' },
        { queue, body: json({ orderId: 'no headers' }), messageId: 'p-3' },
        {
          queue,
          body: json({ orderId: 'unknown' }),
          headers: { ...contract, 'litebus-contract-name': 'unknown' },
          messageId: 'p-4',
        },
        { queue, body: Buffer.from('{"orderId":'), headers: contract, messageId: 'p-5' },
        { queue, body: json({ orderId: 'no id' }), headers: contract },
        {
          queue,
          body: json({ orderId: 'large', padding: 'x'.repeat(1024 * 1024) }),
          headers: contract,
          messageId: 'p-6',
        },
        { queue, body: json({ orderId: 7 }), headers: contract, messageId: 'p-7' },
      ])
      await amqpTools(vhost.url, {
        queue,
        body: json({ orderId: 'amqp-tools without id' }),
        headers: contract,
      })
      await amqpTools(vhost.url, {
        queue,
        body: json({ orderId: 'amqp-tools' }),
        headers: { ...contract, 'litebus-message-id': 't-1' },
      })
      await pika(vhost.url, [
        { queue, body: json({ orderId: 'still going' }), headers: contract, messageId: 'p-8' },
      ])

      await eventually(
        async () => {
          expect(await invoiced()).toEqual(['amqp-tools', 'pika-1 ž', 'pika-2', 'still going'])
        },
        { expectation: 'the valid orders' },
      )
      await eventually(
        () => {
          expect(discarded()).toHaveLength(7)
        },
        { expectation: 'seven discards' },
      )
      expect(discarded().toSorted()).toEqual([
        'CONTRACT_NOT_REGISTERED',
        'INBOX_INGRESS_REFUSED',
        'INBOX_INGRESS_REFUSED',
        'INBOX_INGRESS_REFUSED',
        'INBOX_INGRESS_REFUSED',
        'PAYLOAD_INVALID',
        'PAYLOAD_INVALID',
      ])
      await eventually(
        async () => {
          expect(await messagesIn(vhost.url, `${queue}.discarded`)).toBe(7)
        },
        { expectation: 'a copy of each discarded delivery' },
      )
      const { rows } = await pool.query<{ n: number }>('select count(*)::int as n from handler_runs')
      expect(rows[0]?.n).toBe(4)
      expect((await fetch(`${billing.url}/health/ready`)).status).toBe(200)
      expect(JSON.stringify(billing.log)).not.toMatch(/no headers|unknown"|padding|xxx/)
      expect(await billing.terminate()).toBe(0)
    }, 60_000)
  },
)
