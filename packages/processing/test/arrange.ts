import { manualClock, type ManualClock } from '@litebus/conformance'
import type { LeasedEnvelope, Logger, NewMessage } from '@litebus/core'
import { uuidV7 } from '@litebus/core'
import { memoryStorage, type MemoryStorage, type MemoryTransaction } from '@litebus/storage-memory'
import { createProcessor, type Dispatcher, type Processor, type ProcessorOptions } from '../src/index.ts'

export interface Bench {
  readonly clock: ManualClock
  readonly storage: MemoryStorage
  readonly seen: LeasedEnvelope[]
  readonly logged: string[]
  /** Appends messages and returns their ids. */
  readonly add: (...orderingKeys: readonly (string | undefined)[]) => Promise<string[]>
  readonly processor: (
    dispatch: Dispatcher['dispatch'],
    options?: Partial<ProcessorOptions<MemoryTransaction>>,
  ) => Processor
  readonly stateOf: (id: string) => Promise<string | undefined>
}

export function bench(): Bench {
  const clock = manualClock()
  const storage = memoryStorage({ clock })
  const seen: LeasedEnvelope[] = []
  const logged: string[] = []
  const log = (message: string): void => {
    logged.push(message)
  }
  const logger: Logger = { debug: log, info: log, warn: log, error: log }
  return {
    clock,
    storage,
    seen,
    logged,
    async add(...orderingKeys) {
      const messages = orderingKeys.map((orderingKey): NewMessage => ({
        id: uuidV7(),
        contractName: 'order-placed',
        contractVersion: 1,
        body: new TextEncoder().encode('{}'),
        ...(orderingKey === undefined ? {} : { orderingKey }),
      }))
      await storage.inbox.append(messages)
      return messages.map(({ id }) => id)
    },
    processor(dispatch, options = {}) {
      return createProcessor({
        store: storage.inbox,
        clock,
        logger,
        random: () => 0.5,
        ...options,
        dispatcher: {
          dispatch: (envelope, context) => {
            seen.push(envelope)
            return dispatch(envelope, context)
          },
        },
      })
    },
    stateOf: async (id) => (await storage.inbox.get(id))?.state,
  }
}

export const succeed = (): { readonly kind: 'succeeded' } => ({ kind: 'succeeded' })

/** A promise that a test resolves. */
export function gate<T = void>(): { readonly promise: Promise<T>; readonly open: (value: T) => void } {
  const { promise, resolve } = Promise.withResolvers<T>()
  return { promise, open: resolve }
}
