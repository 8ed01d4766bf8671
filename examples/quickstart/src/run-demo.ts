import { createInbox } from '@litebus/inbox'
import { createIngress } from '@litebus/ingress'
import { createOutbox, createOutboxProcessor } from '@litebus/outbox'
import { postgresStorage } from '@litebus/storage-postgres'
import { orderPlaced } from '@litebus/example-orders-and-billing/contracts'
import { publishTwice } from '@litebus/example-orders-and-billing/publish-twice'
import { eventually } from '@litebus/integration-tests/services'
import pg from 'pg'
import type { QuickstartArguments } from './arguments.ts'
import { demo } from './demo-settings.ts'
import { openBroker } from './open-broker.ts'
import { placeAll } from './place-all.ts'
import type { Counts } from './report.ts'
import { sampleOrders } from './sample-orders.ts'
import { countEffects, countRolledBack, identicalBodies } from './verify.ts'
import { within } from './within.ts'
import { startWorker } from './worker-process.ts'
import type { WorkerNews } from './worker.ts'

/** Runs the main job with everything that can go wrong on the way, and counts. */
export async function runDemo(
  databaseUrl: string,
  { broker: brokerUrl }: QuickstartArguments,
  say: (line: string) => void,
): Promise<Counts> {
  await using resources = new AsyncDisposableStack()
  const broker = resources.use(await openBroker(brokerUrl, demo.queue))
  const pool = new pg.Pool({ connectionString: databaseUrl, max: 12 })
  resources.defer(() => pool.end())
  pool.on('error', () => undefined)
  await pool.query('create table quickstart_effects (message_id uuid, order_id text, attempt int)')
  const sender = resources.use(postgresStorage({ pool, schema: 'quickstart_orders' }))
  const receiver = resources.use(postgresStorage({ pool, schema: 'quickstart_billing' }))
  await sender.schema.migrate()
  await receiver.schema.migrate()

  const orders = sampleOrders(demo.orders)
  const outbox = createOutbox({ store: sender.outbox, contracts: [orderPlaced] })
  say(`placing ${String(orders.length)} orders, each in one transaction with its message`)
  const { ids, rolledBack } = await placeAll(pool, outbox, orders)
  say('one more transaction was rolled back')

  let published = 0
  const relay = createOutboxProcessor({
    store: sender.outbox,
    transport: publishTwice(broker, (count) => (published += count)),
    routing: { resolve: () => ({ destination: demo.queue }) },
  })
  resources.defer(async () => {
    await relay.stop({ graceMs: 2000 })
  })
  const ingress = createIngress({
    transport: broker,
    source: demo.queue,
    inbox: createInbox({ store: receiver.inbox, contracts: [orderPlaced] }),
    contracts: [orderPlaced],
    identity: 'message',
  })
  resources.defer(async () => {
    await ingress.stop({ budgetMs: 2000 })
  })

  const inHandler = Promise.withResolvers<undefined>()
  const onNews = (news: WorkerNews): void => {
    if (news.kind !== 'began') return
    if (news.attempt > 1) say(`attempt ${String(news.attempt)} of ${news.orderId}`)
    if (news.orderId === demo.killedAt && news.attempt === 1) inHandler.resolve(undefined)
  }
  const env = { DATABASE_URL: databaseUrl }
  const first = resources.use(await startWorker({ ...env, HANG_ON: demo.killedAt }, onNews))
  await ingress.start()
  relay.start()
  const firstPublish = { expectation: 'the broker to confirm a publish', timeoutMs: 20_000 }
  await eventually(() => {
    if (published === 0) throw new Error('none was confirmed')
  }, firstPublish)
  say('messages arrive, each published twice under the same id')
  const caught = Promise.race([inHandler.promise, first.ended])
  await within(20_000, `${demo.killedAt} to reach its handler`, caught)
  const killed = await first.kill()
  say(
    `worker ${String(first.pid)} was killed with ${String(killed)} while it handled ${demo.killedAt}, with more of its lease in hand`,
  )

  const second = resources.use(await startWorker(env, onNews))
  say(`worker ${String(second.pid)} takes over when the leases expire`)
  const expectSettled = async (parked: number): Promise<number> => {
    const counts = await receiver.inbox.statusCounts()
    const waiting = counts.awaiting + counts.leased + counts.retryScheduled
    const { deliveries, inFlight } = ingress.counts()
    const settled = deliveries - inFlight === orders.length * 2 && waiting === 0 && counts.parked === parked
    if (settled) return counts.parked
    throw new Error(
      `${String(waiting)} waiting, ${String(counts.parked)} parked, ${String(deliveries)} delivered`,
    )
  }
  const parked = await eventually(() => expectSettled(1), {
    expectation: 'everything but the poison message to be handled',
    timeoutMs: 40_000,
  })
  say('one poison message is parked: UNKNOWN_CURRENCY')
  await second.stop()
  resources.use(await startWorker({ ...env, KNOWS_CURRENCY: 'XTS' }, onNews))
  const { requeued } = await receiver.inbox.requeue({ failureCode: 'UNKNOWN_CURRENCY' })
  say('a worker with the fix is running, the poison message is requeued')
  await eventually(() => expectSettled(0), {
    expectation: 'the requeued message to be handled',
    timeoutMs: 20_000,
  })
  const silent = await countRolledBack(sender.outbox, [rolledBack])
  if (silent === 1) say('no message came out of the transaction that was rolled back')

  const effects = await countEffects(pool, orders)
  const delivered = ingress.counts().acked
  return {
    placed: ids.size,
    rolledBack: silent,
    published,
    delivered,
    accepted: effects.rows,
    duplicatesAbsorbed: delivered - effects.rows,
    identicalBodies: await identicalBodies(receiver.inbox, ids, { orders, source: demo.queue }),
    workersKilled: killed === 'SIGKILL' ? 1 : 0,
    recovered: effects.recovered,
    parked,
    requeued,
    effects: effects.effects,
    repeatedEffects: effects.repeated,
    lost: effects.lost,
  }
}
