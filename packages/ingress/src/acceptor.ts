import {
  inTime,
  isLiteBusError,
  StoreUnavailableError,
  type Inbox,
  type InboxReceipt,
  type Timer,
  type WriteItem,
} from '@litebus/core'
import type { ResolvedIngressOptions } from './ingress-options.ts'

/** A mapped delivery, and who is told what became of it. */
export interface Accepting {
  /** What the inbox accepts. */
  readonly item: WriteItem
  /** The inbox did not accept it, with what it threw; nothing of it is stored, or it may be tried again. */
  failed(error: unknown): void
}

/** Accepts mapped deliveries into the inbox, one by one or several with one statement. */
export interface Acceptor<Entry extends Accepting> {
  /** Accepts one. */
  accept(entry: Entry): void
  /** Sends what is gathered and waits for it no longer. */
  flush(): void
}

/** Log events of batches. */
const eventFlushFailed = 3003
const eventFellBack = 3006

/** What an acceptor works with. */
export interface AcceptorSetup<Entry> {
  /** Options of the ingress. */
  readonly options: ResolvedIngressOptions
  /** Aborts as soon as a stop is asked for: nothing is gathered any more. */
  readonly stopping: AbortSignal
  /** These are committed, in one call what one statement wrote. */
  readonly accepted: (entries: readonly Entry[]) => void
}

/** Builds an acceptor by the batch options. */
export function createAcceptor<Entry extends Accepting>(setup: AcceptorSetup<Entry>): Acceptor<Entry> {
  const { options, accepted } = setup
  const single = (entry: Entry): void => {
    acceptInTime(acceptOne(options.inbox, entry.item), options).then(
      () => {
        accepted([entry])
      },
      (error: unknown) => {
        entry.failed(error)
      },
    )
  }
  return options.batch.enabled
    ? createBatchAcceptor(setup, single)
    : { accept: single, flush: () => undefined }
}

async function acceptOne(inbox: Inbox<never>, item: WriteItem): Promise<InboxReceipt> {
  return inbox.accept(item.contract, item.message, item.options)
}

/** An accept that takes too long may still commit; tried again, its identity absorbs it. */
function acceptInTime<T>(
  work: Promise<T>,
  { clock, executionBudgetMs: limitMs }: ResolvedIngressOptions,
): Promise<T> {
  const onLate = (): Error =>
    new StoreUnavailableError(
      `expected the inbox to accept within ${String(limitMs)} ms, found it still busy`,
    )
  return inTime(work, { clock, limitMs, onLate })
}

async function acceptAll(
  inbox: Inbox<never>,
  entries: readonly Accepting[],
): Promise<readonly InboxReceipt[]> {
  return inbox.acceptBatch(entries.map(({ item }) => item))
}

function createBatchAcceptor<Entry extends Accepting>(
  { options, stopping, accepted }: AcceptorSetup<Entry>,
  single: (entry: Entry) => void,
): Acceptor<Entry> {
  const { inbox, batch, clock, logger, source } = options
  let gathered: Entry[] = []
  let timer: Timer | undefined

  const flush = (): void => {
    timer?.cancel()
    timer = undefined
    const entries = gathered
    gathered = []
    if (entries.length > 0) void send(entries)
  }
  const send = async (entries: readonly Entry[]): Promise<void> => {
    let stored: readonly Entry[]
    try {
      const receipts = await acceptInTime(acceptAll(inbox, entries), options)
      stored = entries.filter((_, index) => receipts[index] !== undefined)
    } catch (error) {
      flushFailed(entries, error)
      return
    }
    accepted(stored)
    if (stored.length === entries.length) return
    // An inbox that answers for fewer has broken its contract: what it says nothing about is tried again.
    const answered = new Set(stored)
    for (const entry of entries) {
      if (!answered.has(entry))
        entry.failed(new StoreUnavailableError('expected one receipt a slot, found fewer'))
    }
  }
  const flushFailed = (entries: readonly Entry[], error: unknown): void => {
    const facts = { source, size: entries.length }
    logger.error('batch flush failed', { eventId: eventFlushFailed, ...facts })
    // An outage is the same for each of them; anything else is the fault of one, which the others must not pay for.
    if (isLiteBusError(error, 'STORE_UNAVAILABLE')) {
      for (const entry of entries) entry.failed(error)
      return
    }
    logger.warn('batch fell back to single accepts', { eventId: eventFellBack, ...facts })
    for (const entry of entries) single(entry)
  }
  return {
    accept(entry) {
      gathered.push(entry)
      if (gathered.length >= batch.size || stopping.aborted) flush()
      else timer ??= clock.schedule(batch.maxWaitMs, flush)
    },
    flush,
  }
}
