import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, it } from '@jest/globals'
import { idOfDelivery } from '@litebus/core'
import { postgresStorage } from '@litebus/storage-postgres'
import pg from 'pg'
import { webhookBodies } from '../payloads/webhook-bodies.ts'
import { startService, type ServiceProcess } from '../processes/service-process.ts'
import { describeWithServices } from '../services/describe-with-services.ts'
import { eventually } from '../services/index.ts'

const orders = 1000

function orderBody(index: number): Buffer {
  const customer = ['Žofie', '山田', 'Ελένη', 'plain'][index % 4]
  return Buffer.from(
    JSON.stringify({
      orderId: `order-${String(index)}`,
      customer,
      webhook: webhookBodies[index % webhookBodies.length],
    }),
  )
}

async function place(service: ServiceProcess, index: number): Promise<string> {
  const response = await fetch(`${service.url}/orders`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: orderBody(index),
  })
  const placement = (await response.json()) as { readonly messageId?: string }
  if (response.status !== 201 || placement.messageId === undefined) {
    throw new Error(`expected order ${String(index)} to be placed, found status ${String(response.status)}`)
  }
  return placement.messageId
}

interface Run {
  readonly message_id: string
  readonly attempt: number
  readonly began_at: Date
}

await describeWithServices(
  'orders and billing as two processes',
  ['postgres', 'rabbitmq'],
  ({ postgres, rabbitmq }) => {
    it(`handles ${String(orders)} orders once each, though each is published twice and a process is killed on the way`, async () => {
      await using database = await postgres.createDatabase()
      await using vhost = await rabbitmq.createVhost()
      const queue = `${vhost.prefix}billing.orders`
      const env = {
        DATABASE_URL: database.url,
        AMQP_URL: vhost.url,
        QUEUE: queue,
        LEASE_MS: '3000',
        PUBLISH_TWICE: 'true',
      }
      await using ordersService = await startService('orders', env)
      const first = await startService('billing', env)
      const pool = new pg.Pool({ connectionString: database.url, max: 2 })
      await using cleanup = new AsyncDisposableStack()
      cleanup.defer(() => pool.end())
      cleanup.use(first)

      const ids = new Map<number, string>()
      const placing = (async () => {
        for (let index = 0; index < orders; index += 20) {
          const batch = Array.from({ length: 20 }, (_, offset) => index + offset)
          await Promise.all(batch.map(async (each) => ids.set(each, await place(ordersService, each))))
        }
      })()
      const handled = async (): Promise<number> => {
        const { rows } = await pool.query<{ n: number }>('select count(*)::int as n from invoices')
        return rows[0]?.n ?? 0
      }
      await eventually(
        async () => {
          expect(await handled()).toBeGreaterThan(100)
        },
        { expectation: 'the first invoices', timeoutMs: 60_000 },
      )
      await first.kill()
      const { rows: clock } = await pool.query<{ now: Date }>('select clock_timestamp() as now')
      const killedAt = clock[0]?.now ?? new Date(0)
      const second = cleanup.use(await startService('billing', env))
      await placing
      await eventually(
        async () => {
          expect(await handled()).toBe(orders)
        },
        { expectation: 'one invoice an order', timeoutMs: 90_000 },
      )

      const storage = cleanup.use(postgresStorage({ pool, schema: 'billing_messages', listen: false }))
      await eventually(
        async () => {
          expect(await storage.inbox.statusCounts()).toMatchObject({
            awaiting: 0,
            leased: 0,
            retryScheduled: 0,
            parked: 0,
          })
        },
        { expectation: 'an empty inbox' },
      )
      const { rows: invoices } = await pool.query<{ n: number; orders: number; messages: number }>(
        'select count(*)::int as n, count(distinct order_id)::int as orders, count(distinct message_id)::int as messages from invoices',
      )
      expect(invoices[0]).toEqual({ n: orders, orders, messages: orders })

      // Every repeated run began again because the first one ended with its process, before it could commit.
      const { rows: runs } = await pool.query<Run>(
        'select message_id, attempt, began_at from handler_runs order by began_at',
      )
      const byMessage = new Map<string, Run[]>()
      for (const run of runs) byMessage.set(run.message_id, [...(byMessage.get(run.message_id) ?? []), run])
      const repeated = [...byMessage.values()].filter((of) => of.length > 1)
      expect(byMessage.size).toBe(orders)
      for (const of of repeated) {
        expect(of.map(({ attempt }) => attempt)).toEqual(of.map((_, index) => index + 1))
        expect(of[0]?.began_at.getTime()).toBeLessThanOrEqual(killedAt.getTime())
      }
      expect(repeated.length).toBeLessThanOrEqual(8)
      process.stdout.write(
        `${String(orders)} effects, 0 lost, ${String(runs.length)} handler runs, ${String(repeated.length)} of them repeated after the kill\n`,
      )

      for (const [index, id] of ids) {
        if (index % 20 !== 0) continue
        const record = await storage.inbox.get(idOfDelivery(queue, id))
        expect(Buffer.from(record?.message.body ?? []).equals(orderBody(index))).toBe(true)
      }
      expect(await second.terminate()).toBe(0)
      expect(await ordersService.terminate()).toBe(0)
    }, 240_000)

    it('answers health requests, refuses what is no order, and ends with 0 on SIGTERM', async () => {
      await using database = await postgres.createDatabase()
      await using vhost = await rabbitmq.createVhost()
      const env = { DATABASE_URL: database.url, AMQP_URL: vhost.url, QUEUE: `${vhost.prefix}billing.orders` }
      await using service = await startService('orders', env)
      expect((await fetch(`${service.url}/health/live`)).status).toBe(200)
      expect(await (await fetch(`${service.url}/health/ready`)).json()).toMatchObject({ status: 'up' })
      const noOrders = [
        '{',
        '[]',
        '{"orderId":7}',
        '"text"',
        String.raw`{"orderId":"nul \u0000"}`,
        String.raw`{"orderId":"half a pair \ud800"}`,
        Buffer.from('{"orderId":"not UTF-8 \xff"}', 'latin1'),
      ]
      for (const body of noOrders) {
        const response = await fetch(`${service.url}/orders`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body,
        })
        expect(response.status).toBe(400)
      }
      await place(service, 1)
      expect(await service.terminate()).toBe(0)
      expect(service.log.at(-1)).toMatchObject({ message: 'stopped', outcome: 'graceful' })
    }, 60_000)

    it('ends on SIGTERM while a client never finishes its request, and publishes what was placed', async () => {
      await using database = await postgres.createDatabase()
      await using vhost = await rabbitmq.createVhost()
      await using service = await startService('orders', {
        DATABASE_URL: database.url,
        AMQP_URL: vhost.url,
        QUEUE: `${vhost.prefix}billing.orders`,
        SHUTDOWN_MS: '2000',
      })
      const { hostname, port } = new URL(service.url)
      const client = connect(Number(port), hostname)
      client.on('error', () => undefined)
      const closed = once(client, 'close')
      client.write('POST /orders HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n')
      client.write('content-length: 1000\r\n\r\n{"orderId":')
      await place(service, 1)
      expect(await service.terminate()).toBe(0)
      await closed
      const stopped = service.log.filter(({ message }) => message === 'part stopped').map(({ part }) => part)
      expect(stopped).toEqual(['http', 'relay', 'broker', 'database'])
    }, 60_000)

    it('is not ready while its loops cannot do their work, and says which', async () => {
      await using database = await postgres.createDatabase()
      await using vhost = await rabbitmq.createVhost()
      const env = { DATABASE_URL: database.url, AMQP_URL: vhost.url, QUEUE: `${vhost.prefix}billing.orders` }
      await using billing = await startService('billing', env)
      const pool = new pg.Pool({ connectionString: database.url, max: 1 })
      await using cleanup = new AsyncDisposableStack()
      cleanup.defer(() => pool.end())
      const ready = async (): Promise<readonly unknown[]> => {
        const response = await fetch(`${billing.url}/health/ready`)
        const { parts } = (await response.json()) as {
          readonly parts: readonly { readonly name: string; readonly status: string }[]
        }
        return [response.status, ...parts.filter(({ status }) => status === 'down').map(({ name }) => name)]
      }
      const become = (state: readonly unknown[]): Promise<void> =>
        eventually(
          async () => {
            expect(await ready()).toEqual(state)
          },
          { expectation: `to be ${String(state[0])}` },
        )
      await become([200])
      await pool.query('alter table billing_messages.inbox_queue rename to moved')
      await become([503, 'worker'])
      await pool.query('alter table billing_messages.moved rename to inbox_queue')
      await become([200])
      expect(await billing.terminate()).toBe(0)
    }, 60_000)
  },
)
