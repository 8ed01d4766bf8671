import { expect, it } from '@jest/globals'
import { defineContract, defineTransactionalHandler } from '@litebus/core'
import { createInbox, createInboxProcessor } from '@litebus/inbox'
import { postgresStorage, type PostgresTransaction } from '@litebus/storage-postgres'
import pg from 'pg'
import { describeWithServices } from '../services/describe-with-services.ts'
import type { PostgresService } from '../services/index.ts'

const job = defineContract<{ readonly n: number }>({ name: 'job', version: 1 })

type Work = (transaction: PostgresTransaction) => Promise<void>

const insert = 'insert into effects values (1)'

async function query(transaction: PostgresTransaction, ...texts: readonly string[]): Promise<void> {
  for (const text of texts) await transaction.query(text)
}

/** Handles one message and answers where it stands, with how many effects there are. */
async function handled(postgres: PostgresService, work: Work): Promise<readonly unknown[]> {
  await using scope = new AsyncDisposableStack()
  const database = scope.use(await postgres.createDatabase())
  const pool = new pg.Pool({ connectionString: database.url, max: 4 })
  scope.defer(() => pool.end())
  const storage = scope.use(postgresStorage({ pool, listen: false }))
  await storage.schema.migrate()
  await pool.query('create table effects (n int)')
  const inbox = createInbox({ store: storage.inbox, contracts: [job] })
  const { id } = await inbox.accept(job, { n: 1 })
  const processor = createInboxProcessor({
    store: storage.inbox,
    handlers: [
      defineTransactionalHandler({
        contract: job,
        handle: (_, { transaction }: { readonly transaction: PostgresTransaction }) => work(transaction),
      }),
    ],
  })
  await processor.processPending()
  await processor.stop()
  const record = await storage.inbox.get(id)
  const { rows } = await pool.query<{ n: number }>('select count(*)::int as n from effects')
  return [record?.state, record?.failures.at(-1)?.code, rows[0]?.n]
}

await describeWithServices(
  'a transactional handler that ends its transaction itself',
  ['postgres'],
  ({ postgres }) => {
    it.each<readonly [string, Work, number]>([
      ['rolls back', (transaction) => query(transaction, insert, 'rollback'), 0],
      ['commits', (transaction) => query(transaction, insert, 'commit'), 1],
      ['commits and begins another one', (transaction) => query(transaction, insert, 'commit', 'begin'), 1],
      ['rolls back and writes on', (transaction) => query(transaction, 'rollback', insert), 1],
      [
        'commits and throws',
        async (transaction) => {
          await query(transaction, insert, 'commit')
          throw new Error('later')
        },
        1,
      ],
    ])('and %s is parked instead of being taken for success, or run again', async (_, work, effects) => {
      expect(await handled(postgres, work)).toEqual(['parked', 'INVALID_OPERATION', effects])
    })

    it('is no handler that uses savepoints', async () => {
      const withSavepoint: Work = (transaction) =>
        query(transaction, 'savepoint a', insert, 'rollback to savepoint a', insert)
      expect(await handled(postgres, withSavepoint)).toEqual(['succeeded', undefined, 1])
    })

    it('is no handler that fails', async () => {
      const failing: Work = async (transaction) => {
        await query(transaction, insert, 'select 1 / 0')
      }
      expect(await handled(postgres, failing)).toEqual(['retryScheduled', expect.any(String), 0])
    })
  },
)
