import { memoryStorage } from '@litebus/storage-memory'
import type { MessagePath } from '../transports/message-path.ts'
import type { InboxStore } from './open-ingress.ts'

/** A store that a matrix of ingress runs with. A new one joins all of them by an entry below. */
export interface TestedStore {
  /** As it appears in the names of tests. */
  readonly name: string
  /** The empty inbox of a path. */
  readonly open: (path: MessagePath) => InboxStore
}

/** All of them. */
export const testedStores: readonly TestedStore[] = [
  { name: 'memory', open: ({ scope }) => scope.use(memoryStorage()).inbox },
  { name: 'PostgreSQL', open: ({ storage }) => storage.inbox },
]

/** Ids of the orders in an inbox, with a duplicate for each row too many. */
export async function ordersIn(store: InboxStore): Promise<readonly string[]> {
  const { records } = await store.query({ limit: 1000 })
  return records
    .map(({ message }) => (JSON.parse(Buffer.from(message.body).toString()) as { readonly id: string }).id)
    .toSorted()
}
