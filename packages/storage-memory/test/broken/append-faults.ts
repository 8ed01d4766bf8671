import { isLiteBusError, uuidV7, type AppendResult, type NewMessage } from '@litebus/core'
import { changingLeases, noted, notedMap, poison, without, type BrokenStore } from './broken-store.ts'

/** Stores that write wrongly. */
export const appendFaults: readonly BrokenStore[] = [
  {
    name: 'reads bodies as text',
    damage: changingLeases((envelopes) =>
      envelopes.map((envelope) => ({
        ...envelope,
        message: { ...envelope.message, body: Buffer.from(Buffer.from(envelope.message.body).toString()) },
      })),
    ),
    foundBy: ['append: gives back bytes exactly as they were written'],
  },
  {
    name: 'loses headers',
    damage: changingLeases((envelopes) =>
      envelopes.map((envelope) => ({ ...envelope, message: without(envelope.message, 'headers') })),
    ),
    foundBy: ['append: gives back every field of the metadata'],
  },
  {
    name: 'answers receipts in any order',
    damage: (store) => ({
      append: async (messages, options) => (await store.append(messages, options)).toReversed(),
    }),
    foundBy: ['append: answers the receipt of each slot in order'],
  },
  {
    name: 'loses the end of a large batch',
    damage: (store) => ({
      async append(messages, options) {
        const results = await store.append(messages.slice(0, 1000), options)
        return messages.map((_, index) => results[index % 1000]).filter((result) => result !== undefined)
      },
    }),
    foundBy: ['append: writes a batch of 10 000 messages'],
  },
  {
    name: "keeps the caller's buffer",
    damage(store, shared) {
      const bodies = notedMap<Uint8Array>(shared, 'bodies')
      return {
        append(messages, options) {
          for (const { id, body } of messages) bodies.set(id, body)
          return store.append(messages, options)
        },
        ...changingLeases((envelopes) =>
          envelopes.map(({ message, ...rest }) => ({
            ...rest,
            message: { ...message, body: bodies.get(message.id) ?? message.body },
          })),
        )(store, shared),
      }
    },
    foundBy: ['append: is not changed by what the caller does to the bytes afterwards'],
  },
  {
    name: 'writes what it can of a refused batch, and poisons the transaction',
    damage: (store) => ({
      async append(messages, options) {
        try {
          return await store.append(messages, options)
        } catch (error) {
          if (isLiteBusError(error, 'INBOX_STORAGE_REFUSED')) await store.append(messages.slice(0, 1))
          poison(options?.transaction)
          throw error
        }
      },
    }),
    foundBy: [
      'append: refuses what it could not give back, and writes nothing of that batch',
      "caller's transaction: stays usable after a refused value",
      "caller's transaction: stays usable after a strict conflict, which writes nothing of its batch",
      "caller's transaction: tells that another open transaction is writing the key, and stays usable",
    ],
  },
  {
    name: 'knows ids of the other axis',
    damage(store, shared) {
      const seen = notedMap<AppendResult>(shared, 'seen')
      return {
        async append(messages, options) {
          const results = await store.append(messages, options)
          return results.map((result, index) => {
            const id = messages[index]?.id ?? ''
            const known = seen.get(id)
            seen.set(id, { ...result, status: 'existing' })
            return known ?? result
          })
        },
      }
    },
    foundBy: ['append: keeps inbox and outbox apart'],
  },
  {
    name: 'ignores when a message becomes due',
    damage: (store) => ({
      append: (messages, options) =>
        store.append(
          messages.map((message) => without(message, 'visibility')),
          options,
        ),
    }),
    foundBy: [
      'append: makes a delayed message due after its delay, by the clock of the store',
      'append: makes a message due at its time, at once when that has passed',
    ],
  },
  {
    name: 'takes no empty batch',
    damage: (store) => ({
      append: (messages, options) =>
        messages.length === 0 ? Promise.reject(new Error('empty')) : store.append(messages, options),
    }),
    foundBy: ['append: answers nothing for an empty batch'],
  },
  {
    name: 'believes that an id is new each time',
    damage: (store) => ({
      append: (messages, options) =>
        store.append(
          messages.map((message) => (message.idIsNew === true ? { ...message, id: uuidV7() } : message)),
          options,
        ),
    }),
    foundBy: ['append: finds a message that is written again although its id was new'],
  },
  {
    name: 'deduplicates nothing',
    damage: (store) => ({
      async append(messages, options) {
        try {
          const results: AppendResult[] = []
          for (const message of messages) {
            const isKnown = (await store.get(message.id)) !== undefined
            results.push(...(await store.append([alone(message, isKnown)], options)))
          }
          return results
        } catch (error) {
          if (!isLiteBusError(error, 'DUPLICATE_IN_FLIGHT', 'IDEMPOTENCY_CONFLICT')) throw error
          return store.append(
            messages.map((message) => alone(message, true)),
            options,
          )
        }
      },
    }),
    foundBy: [
      'dedup: answers the first receipt for the same id and body',
      'dedup: refuses the id of another body',
      'dedup: refuses the id of a message of another tenant',
      'dedup: answers the stored receipt for a taken key, whatever the new body',
      'dedup: refuses any taken key under strict and names the slot',
      'dedup: refuses an id and a key that point at different messages',
      'dedup: refuses a known id under a new key, which it could not remember',
      'dedup: scopes keys to their tenant, a blank tenant being the unscoped partition',
      'dedup: deduplicates derived ids',
      'dedup: still knows what has succeeded, also after its payload is gone',
      'dedup: takes two slots of one batch with one key as one message',
      'dedup: writes nothing of a batch whose slots conflict among themselves',
      'dedup: gives each slot of a batch its own outcome',
      "caller's transaction: tells that another open transaction is writing the derived id",
    ],
  },
  {
    name: 'poisons the transaction with a duplicate',
    damage: (store) => ({
      async append(messages, options) {
        const results = await store.append(messages, options)
        if (results.some((result) => result.status === 'existing')) poison(options?.transaction)
        return results
      },
    }),
    foundBy: ["caller's transaction: stays usable after a duplicate that was found"],
  },
  {
    name: 'does not see its own writes',
    damage(store, shared) {
      const seen = noted<string>(shared, 'ids')
      return {
        append(messages, options) {
          if (options?.transaction !== undefined && messages.some(({ id }) => seen.has(id))) {
            return store.append(messages)
          }
          for (const { id } of messages) seen.add(id)
          return store.append(messages, options)
        },
      }
    },
    foundBy: ["caller's transaction: sees what it has written itself"],
  },
  {
    name: "ignores the caller's transaction",
    damage: (store) => ({ append: (messages) => store.append(messages) }),
    foundBy: [
      "caller's transaction: shows nothing before the commit, everything after it, and nothing after a rollback",
      "caller's transaction: refuses a handle without an open transaction, and writes nothing",
      'completion in a transaction: commits what the work wrote together with the completion',
      'completion in a transaction: takes everything back when the work throws, and rethrows what it threw',
      'completion in a transaction: takes everything back when the lease was lost meanwhile',
    ],
  },
  {
    name: 'lets producers of a key overtake each other',
    damage: (store) => ({
      append: (messages, options) =>
        store.append(messages, options === undefined ? {} : { ...options, ordering: 'happensBefore' }),
    }),
    foundBy: ['ordering: keeps the order of commits where producers of a key take turns'],
  },
]

function alone(message: NewMessage, isKnown: boolean): NewMessage {
  const rest = without(message, 'idempotency')
  return isKnown ? { ...rest, id: uuidV7() } : rest
}
