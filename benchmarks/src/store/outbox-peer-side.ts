import pg from 'pg'
import { DatabaseSetup, getDisabledLogger, initializePollingMessageListener } from 'pg-transactional-outbox'
import type { Side } from '../harness/benchmark.ts'
import { payload } from '../harness/payloads.ts'
import type { StoreRound } from './floor-side.ts'

const schema = 'transactional_outbox'
const names = {
  outboxOrInbox: 'outbox',
  database: 'bench',
  schema,
  table: 'outbox',
  listenerRole: 'bench',
  nextMessagesSchema: schema,
  nextMessagesName: 'next_outbox_messages',
} as const

/**
 * pg-transactional-outbox with its polling listener, at the settings of its README for an outbox. It completes each
 * message in a transaction of its own, so a round has few of them.
 */
export async function transactionalOutboxSide(round: StoreRound): Promise<Side & AsyncDisposable> {
  const { databaseUrl, kind, messages } = round
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  await client.query(DatabaseSetup.dropAndCreateTable(names))
  await client.query(DatabaseSetup.createPollingFunction(names))
  await client.query(DatabaseSetup.setupPollingIndexes(names))
  return {
    name: `pg-transactional-outbox, ${kind}`,
    async prepare() {
      await client.query(`truncate ${schema}.outbox`)
      await client.query(
        `insert into ${schema}.outbox (id, aggregate_type, aggregate_id, message_type, concurrency, payload)
         select gen_random_uuid(), 'order', 'order', 'order-placed', 'parallel', b::jsonb from unnest($1::text[]) b`,
        [Array.from({ length: messages }, (_, index) => payload(kind, index))],
      )
    },
    async run() {
      const { promise: done, resolve } = Promise.withResolvers<undefined>()
      let handled = 0
      const [stop] = initializePollingMessageListener(
        {
          outboxOrInbox: 'outbox',
          dbListenerConfig: { connectionString: databaseUrl },
          settings: {
            dbSchema: schema,
            dbTable: 'outbox',
            enableMaxAttemptsProtection: false,
            enablePoisonousMessageProtection: false,
            nextMessagesBatchSize: 5,
            nextMessagesFunctionSchema: schema,
            nextMessagesFunctionName: names.nextMessagesName,
            nextMessagesPollingIntervalInMs: 250,
          },
        },
        {
          handle: () => {
            handled += 1
            if (handled === messages) resolve(undefined)
            return Promise.resolve()
          },
        },
        getDisabledLogger(),
      )
      await done
      await stop()
      return messages
    },
    async [Symbol.asyncDispose]() {
      await client.end()
    },
  }
}
