import type { KafkaDriver, KafkaDriverProducer } from './driver.ts'

/** A producer that could not be opened: nothing was sent. */
export class ProducerUnavailable extends Error {
  override readonly name = 'ProducerUnavailable'
}

/**
 * The producer in use. After any failed write it is given up, and the next write takes a fresh one with a producer id
 * of its own: KafkaJS uses the sequence number of a failed write again, and a broker that has stored that write takes
 * the next one for its repetition and confirms it without storing it (seen: one `firstSequence` twice). The same comes of
 * two writes to one partition at a time, where one of them fails inside the client and is repeated there: a write that
 * nobody waits for any more may still be under way, and a partition may have another leader since. So no producer writes
 * to a partition while another write of its own to it is open.
 */
export interface Producers {
  /**
   * Writes to these places with the producer in use, or with a fresh one while that one still writes to one of them.
   *
   * @throws ProducerUnavailable when none can be opened, TransportClosedError never: see {@link Producers.close}.
   */
  write(places: ReadonlySet<string>, write: (producer: KafkaDriverProducer) => Promise<void>): Promise<void>
  /** Gives up the producer in use and waits for those that still write. */
  close(): Promise<void>
}

interface Used {
  readonly producer: Promise<KafkaDriverProducer>
  /** Where it writes now, one entry for each write. */
  readonly writing: Set<ReadonlySet<string>>
  givenUp: boolean
}

/** Without a producer yet. */
export function createProducers(driver: Pick<KafkaDriver, 'openProducer'>): Producers {
  let current: Used | undefined
  const closing = new Set<Promise<unknown>>()

  const giveUp = (used: Used): void => {
    if (current === used) current = undefined
    used.givenUp = true
  }
  const closeIfDone = (used: Used): void => {
    if (!used.givenUp || used.writing.size > 0) return
    const closed = used.producer
      .then((producer) => producer.close())
      .catch(() => undefined)
      .finally(() => closing.delete(closed))
    closing.add(closed)
  }
  const opened = async (used: Used): Promise<KafkaDriverProducer> => {
    try {
      return await used.producer
    } catch (cause) {
      throw new ProducerUnavailable('no producer could be opened', { cause })
    }
  }

  return {
    async write(places, write) {
      if (current !== undefined && writesTo(current, places)) giveUp(current)
      const used = (current ??= { producer: driver.openProducer(), writing: new Set(), givenUp: false })
      used.writing.add(places)
      try {
        await write(await opened(used))
      } catch (error) {
        giveUp(used)
        throw error
      } finally {
        used.writing.delete(places)
        closeIfDone(used)
      }
    },
    async close() {
      if (current !== undefined) {
        const last = current
        giveUp(last)
        closeIfDone(last)
      }
      await Promise.all(closing)
    },
  }
}

function writesTo({ writing }: Used, places: ReadonlySet<string>): boolean {
  return [...writing].some((open) => [...places].some((place) => open.has(place)))
}
