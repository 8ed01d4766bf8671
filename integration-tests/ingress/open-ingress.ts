import type { DestinationKind, TestDestination } from '@litebus/conformance'
import { noTelemetry, type Inbox, type MessageStore, type Transport, type WriteItem } from '@litebus/core'
import { createInbox } from '@litebus/inbox'
import { createIngress, type Ingress, type IngressOptions } from '@litebus/ingress'
import type { MemoryStorage } from '@litebus/storage-memory'
import type { PostgresStorage } from '@litebus/storage-postgres'
import { orderPlaced, type MessagePath } from '../transports/message-path.ts'
import { keepLog, openSource, type KeptLog, type OpenSource } from '../transports/open-source.ts'

/** Stands between ingress and inbox: what it throws is what the inbox throws. Gets the source ids of one write. */
type BeforeAccept = (sourceIds: readonly string[]) => Promise<void> | void

/** An ingress on a source, with everything that a test looks at. */
export interface OpenIngress extends OpenSource, Pick<KeptLog, 'events' | 'about'> {
  /** The ingress, not started. */
  readonly ingress: Ingress
  /** Everything that was logged, as text. */
  readonly log: () => string
  /** Sums by instrument. */
  readonly counted: ReadonlyMap<string, number>
}

/** Any store of an inbox. */
export type InboxStore = PostgresStorage['inbox'] | MemoryStorage['inbox']

/** Options of {@link openIngress}. */
export interface OpenIngressOptions extends Partial<Omit<IngressOptions, 'transport' | 'source' | 'inbox'>> {
  /** Kind of a fresh source, or one that is there already. @defaultValue 'plain' */
  readonly source?: DestinationKind | TestDestination
  /** Called before each write. */
  readonly before?: BeforeAccept
  /** Called after each write, before the ingress hears of it. */
  readonly after?: BeforeAccept
  /** Stands between ingress and broker. */
  readonly wrap?: (transport: Transport) => Transport
  /** @defaultValue that of the path */
  readonly inboxStore?: InboxStore
}

/** Opens an ingress in front of the inbox of a path; it is stopped with the path. */
export async function openIngress(
  path: MessagePath,
  {
    source = 'plain',
    before,
    after,
    wrap = (transport) => transport,
    inboxStore = path.storage.inbox,
    ...options
  }: OpenIngressOptions = {},
): Promise<OpenIngress> {
  const opened = await openSource(path, source)
  const log = keepLog()
  const counted = new Map<string, number>()
  const store: Pick<MessageStore<never>, 'axis' | 'append'> = inboxStore
  const inbox = createInbox({ store, contracts: [orderPlaced] })
  const ingress = createIngress({
    transport: wrap(opened.transport),
    source: opened.target.source,
    inbox: watched(inbox, { before, after }),
    contracts: [orderPlaced],
    probe: () => inboxStore.probe(),
    requeueBackoff: { initialDelayMs: 20, maxDelayMs: 100 },
    retryPollIntervalMs: 100,
    // A log names a delivery by its place: tests know messages by the id that their publisher gave.
    identity: 'message',
    logger: log.logger,
    telemetry: {
      ...noTelemetry,
      count({ name }, value) {
        counted.set(name, (counted.get(name) ?? 0) + value)
      },
    },
    ...options,
  })
  path.scope.defer(async () => {
    await ingress.stop({ budgetMs: 2000 })
  })
  return { ...opened, ingress, events: log.events, about: log.about, log: log.text, counted }
}

interface Around {
  readonly before: BeforeAccept | undefined
  readonly after: BeforeAccept | undefined
}

function watched(inbox: Inbox<never>, { before, after }: Around): Inbox<never> {
  const around = async <T>(
    items: readonly Pick<WriteItem, 'options'>[],
    write: () => Promise<T>,
  ): Promise<T> => {
    const ids = items.map(({ options }) => options?.sourceId ?? '')
    await before?.(ids)
    const written = await write()
    await after?.(ids)
    return written
  }
  return {
    accept: (contract, message, options) =>
      around([{ ...(options === undefined ? {} : { options }) }], () =>
        inbox.accept(contract, message, options),
      ),
    acceptBatch: (items, options) => around(items, () => inbox.acceptBatch(items, options)),
  }
}
