import type { DestinationKind, ForeignMessage, TestDestination } from '@litebus/conformance'
import {
  noTelemetry,
  type Inbox,
  type LogFields,
  type Logger,
  type Transport,
  type WriteItem,
} from '@litebus/core'
import { createInbox } from '@litebus/inbox'
import { createIngress, type Ingress, type IngressOptions } from '@litebus/ingress'
import type { PostgresStorage } from '@litebus/storage-postgres'
import { contractHeaders, orderBody, orderPlaced, type MessagePath } from '../transports/message-path.ts'

/** Stands between ingress and inbox: what it throws is what the inbox throws. Gets the source ids of one write. */
export type BeforeAccept = (sourceIds: readonly string[]) => Promise<void> | void

/** An ingress on a fresh source, with everything that a test looks at. */
export interface OpenIngress {
  /** The ingress, not started. */
  readonly ingress: Ingress
  /** Where it consumes from. */
  readonly target: TestDestination
  /** Log events in order. */
  readonly events: () => readonly number[]
  /** Everything that was logged, as text. */
  readonly log: () => string
  /** Sums by instrument. */
  readonly counted: ReadonlyMap<string, number>
  /** Publishes as somebody without LiteBus. */
  readonly put: (message: Partial<ForeignMessage>) => Promise<void>
  /** Publishes a valid order under its id. */
  readonly order: (id: string) => Promise<void>
}

/** Options of {@link openIngress}. */
export interface OpenIngressOptions extends Partial<Omit<IngressOptions, 'transport' | 'source' | 'inbox'>> {
  /** Kind of a fresh source. @defaultValue 'plain' */
  readonly kind?: DestinationKind
  /** A source that is there already, instead of a fresh one. */
  readonly existing?: TestDestination
  /** Called before each write. */
  readonly before?: BeforeAccept
  /** Called after each write, before the ingress hears of it. */
  readonly after?: BeforeAccept
  /** Stands between ingress and broker. */
  readonly wrap?: (transport: Transport) => Transport
  /** @defaultValue that of the path */
  readonly inboxStore?: PostgresStorage['inbox']
}

/** Opens an ingress in front of the inbox of a path; it is stopped with the path. */
export async function openIngress(
  { fixture, scope, storage }: MessagePath,
  {
    kind = 'plain',
    existing,
    before,
    after,
    wrap = (transport) => transport,
    inboxStore = storage.inbox,
    ...options
  }: OpenIngressOptions = {},
): Promise<OpenIngress> {
  const target = existing ?? (await fixture.createDestination(kind))
  const transport = scope.use(fixture.connect())
  const lines: { readonly message: string; readonly fields: LogFields }[] = []
  const log = (message: string, fields: LogFields = {}): void => {
    lines.push({ message, fields })
  }
  const logger: Logger = { debug: log, info: log, warn: log, error: log }
  const counted = new Map<string, number>()
  const ingress = createIngress({
    transport: wrap(transport),
    source: target.source,
    inbox: watched(createInbox({ store: inboxStore, contracts: [orderPlaced] }), { before, after }),
    contracts: [orderPlaced],
    probe: () => inboxStore.probe(),
    requeueBackoff: { initialDelayMs: 20, maxDelayMs: 100 },
    retryPollIntervalMs: 100,
    logger,
    telemetry: {
      ...noTelemetry,
      count({ name }, value) {
        counted.set(name, (counted.get(name) ?? 0) + value)
      },
    },
    ...options,
  })
  scope.defer(async () => {
    await ingress.stop({ budgetMs: 2000 })
  })
  const put: OpenIngress['put'] = async (message) => {
    if (fixture.publishForeign === undefined)
      throw new Error('expected a fixture that publishes without LiteBus')
    await fixture.publishForeign(target, { body: orderBody('x'), headers: contractHeaders, ...message })
  }
  return {
    ingress,
    target,
    events: () => lines.flatMap(({ fields: { eventId } }) => (typeof eventId === 'number' ? [eventId] : [])),
    log: () => JSON.stringify(lines),
    counted,
    put,
    order: (id) => put({ messageId: id, body: orderBody(id) }),
  }
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
