import type { DestinationKind, TestDestination } from '@litebus/conformance'
import { createConsumer, type Consumer, type ConsumerOptions } from '@litebus/consumer'
import { defineHandler, type HandlerContext, type HandlerReturn, type Transport } from '@litebus/core'
import { orderPlaced, type MessagePath, type Order } from '../transports/message-path.ts'
import { keepLog, openSource, type KeptLog, type OpenSource } from '../transports/open-source.ts'

/** A consumer on a source, with everything that a test looks at. */
export interface OpenConsumer extends OpenSource, KeptLog {
  /** The consumer, not started. */
  readonly consumer: Consumer
  /** Where its dead letters go. */
  readonly dead: TestDestination
  /** Where its retry copies go. */
  readonly again: TestDestination
}

/** Options of {@link openConsumer}. */
export interface OpenConsumerOptions extends Partial<
  Omit<ConsumerOptions, 'transport' | 'source' | 'handlers'>
> {
  /** Kind of a fresh source, or one that is there already. @defaultValue 'plain' */
  readonly source?: DestinationKind | TestDestination
  /** What the handler does. @defaultValue nothing */
  readonly handle?: (order: Order, context: HandlerContext) => HandlerReturn
  /** Stands between consumer and broker. */
  readonly wrap?: (transport: Transport) => Transport
}

/** Opens a consumer with a place for retries and one for dead letters; it is stopped with the path. */
export async function openConsumer(
  path: MessagePath,
  {
    source,
    handle = () => undefined,
    wrap = (transport) => transport,
    retry,
    ...options
  }: OpenConsumerOptions = {},
): Promise<OpenConsumer> {
  const dead = await path.fixture.createDestination('plain')
  const again = await path.fixture.createDestination('plain')
  const opened = await openSource(path, source)
  const log = keepLog()
  const consumer = createConsumer({
    transport: wrap(opened.transport),
    source: opened.target.source,
    handlers: [defineHandler({ contract: orderPlaced, handle })],
    retry: {
      mode: 'retryDestination',
      ordering: 'allowReorder',
      maxAttempts: 3,
      retryDestination: again.destination,
      deadLetterDestination: dead.destination,
      backoff: { initialDelayMs: 20, maxDelayMs: 100 },
      ...retry,
    },
    restartDelayMs: 100,
    logger: log.logger,
    ...options,
  })
  path.scope.defer(async () => {
    await consumer.stop({ budgetMs: 2000 })
  })
  return { ...opened, ...log, consumer, dead, again }
}
