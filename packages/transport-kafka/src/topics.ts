import type { Clock } from '@litebus/core'
import type { DescribedPartition, KafkaDriver } from './driver.ts'

/** Partitions and leaders of topics, asked for when needed and remembered for a while. */
export interface Topics {
  /** Partitions of a topic; undefined where it does not exist, which is not remembered. */
  partitionsOf(topic: string): Promise<readonly DescribedPartition[] | undefined>
  /** Something went wrong with the topic: it is asked for again. */
  forget(topic: string): void
}

interface Known {
  readonly partitions: readonly DescribedPartition[]
  readonly until: number
}

/** Knows nothing yet. */
export function createTopics(
  driver: Pick<KafkaDriver, 'describeTopic'>,
  { clock, metadataMaxAgeMs }: { readonly clock: Clock; readonly metadataMaxAgeMs: number },
): Topics {
  const known = new Map<string, Known>()
  const asking = new Map<string, Promise<readonly DescribedPartition[] | undefined>>()

  const ask = async (topic: string): Promise<readonly DescribedPartition[] | undefined> => {
    try {
      const partitions = await driver.describeTopic(topic)
      if (partitions === undefined) {
        known.delete(topic)
        return undefined
      }
      const sorted = partitions.toSorted((a, b) => a.partition - b.partition)
      known.set(topic, { partitions: sorted, until: clock.monotonic() + metadataMaxAgeMs })
      return sorted
    } finally {
      asking.delete(topic)
    }
  }

  return {
    partitionsOf(topic) {
      const found = known.get(topic)
      if (found !== undefined && found.until > clock.monotonic()) return Promise.resolve(found.partitions)
      const answer = asking.get(topic) ?? ask(topic)
      if (!asking.has(topic)) asking.set(topic, answer)
      return answer
    },
    forget: (topic) => {
      known.delete(topic)
    },
  }
}
