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

/** Accepts mapped deliveries into the inbox, one by one or several with one statement. */
export interface Acceptor {
  /** Accepts one; rejects with what the inbox threw. */
  accept(item: WriteItem): Promise<InboxReceipt>
  /** Sends what is gathered and waits for it no longer. */
  flush(): void
}

/** Log events of batches. */
const eventFlushFailed = 3003
const eventFellBack = 3006

/** Builds an acceptor by the batch options. Once a stop is asked for, nothing is gathered any more. */
export function createAcceptor(options: ResolvedIngressOptions, stopping: AbortSignal): Acceptor {
  const { inbox, batch } = options
  const single = (item: WriteItem): Promise<InboxReceipt> => acceptInTime(acceptOne(inbox, item), options)
  return batch.enabled
    ? createBatchAcceptor(options, { single, stopping })
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
  entries: readonly Gathered[],
): Promise<readonly InboxReceipt[]> {
  return inbox.acceptBatch(entries.map(({ item }) => item))
}

interface Gathered {
  readonly item: WriteItem
  readonly resolve: (receipt: InboxReceipt | Promise<InboxReceipt>) => void
  readonly reject: (error: unknown) => void
}

function createBatchAcceptor(
  options: ResolvedIngressOptions,
  {
    single,
    stopping,
  }: {
    readonly single: (item: WriteItem) => Promise<InboxReceipt>
    readonly stopping: AbortSignal
  },
): Acceptor {
  const { inbox, batch, clock, logger, source } = options
  let gathered: Gathered[] = []
  let timer: Timer | undefined

  const flush = (): void => {
    timer?.cancel()
    timer = undefined
    const entries = gathered
    gathered = []
    if (entries.length > 0) void send(entries)
  }
  const send = async (entries: readonly Gathered[]): Promise<void> => {
    try {
      const receipts = await acceptInTime(acceptAll(inbox, entries), options)
      entries.forEach(({ resolve, reject }, index) => {
        const receipt = receipts[index]
        if (receipt === undefined)
          reject(new StoreUnavailableError('expected one receipt a slot, found fewer'))
        else resolve(receipt)
      })
    } catch (error) {
      logger.error('batch flush failed', { eventId: eventFlushFailed, source, size: entries.length })
      // An outage is the same for each of them; anything else is the fault of one, which the others must not pay for.
      if (isLiteBusError(error, 'STORE_UNAVAILABLE')) {
        for (const { reject } of entries) reject(error)
        return
      }
      logger.warn('batch fell back to single accepts', {
        eventId: eventFellBack,
        source,
        size: entries.length,
      })
      for (const { item, resolve } of entries) resolve(single(item))
    }
  }
  return {
    accept(item) {
      return new Promise((resolve, reject) => {
        gathered.push({ item, resolve, reject })
        if (gathered.length >= batch.size || stopping.aborted) flush()
        else timer ??= clock.schedule(batch.maxWaitMs, flush)
      })
    },
    flush,
  }
}
