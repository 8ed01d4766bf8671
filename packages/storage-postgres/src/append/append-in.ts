import type { AppendOptions, AppendResult, NewMessage } from '@litebus/core'
import { runIn } from '../database/callers-transaction.ts'
import type { Database, Run } from '../database/database.ts'
import type { PostgresTransaction } from '../database/postgres-client.ts'
import type { AxisNames } from '../schema/names.ts'
import { append, appendNew, planOf, type AppendContext } from './append.ts'

/** Where messages are written. */
export interface AppendTarget {
  readonly database: Database
  readonly axis: AxisNames
  /** Refuses a schema that this package does not know, through the given connection. */
  readonly ready: (run: Run) => Promise<void>
}

/** Appends in the caller's transaction, or in one of the store's own: a single statement where that is enough. */
export async function appendIn(
  target: AppendTarget,
  messages: readonly NewMessage[],
  options: AppendOptions<PostgresTransaction>,
): Promise<readonly AppendResult[]> {
  const { database, ready } = target
  const doing = 'append messages'
  const work = (run: Run): Promise<readonly AppendResult[]> =>
    append(contextOf(target, run, options), messages)
  if (options.transaction !== undefined) {
    const run = await runIn(options.transaction, doing)
    await ready(run)
    return work(run)
  }
  await ready((text, values) => database.read('read the schema', text, values))
  const single: Run = (text, values) => database.run(doing, text, values)
  const plan = planOf(messages)
  if (plan === 'oneStatement') return work(single)
  const written =
    plan === 'oneStatementIfNew' ? await appendNew(contextOf(target, single, options), messages) : undefined
  return written ?? database.transaction(doing, work)
}

function contextOf(
  { axis }: AppendTarget,
  run: Run,
  { ordering, transaction }: AppendOptions<PostgresTransaction>,
): AppendContext {
  return {
    axis,
    run,
    inCommitOrder: ordering === 'commit',
    trustsNewIds: transaction !== undefined,
    async undo(ids) {
      await run(
        `with m as (delete from ${axis.message} m where m.id = any ($1::uuid[]) returning m.seq)
        delete from ${axis.queue} q using m where q.seq = m.seq`,
        [ids],
      )
    },
  }
}
