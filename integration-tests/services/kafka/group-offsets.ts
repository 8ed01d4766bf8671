import type { Admin } from 'kafkajs'
import { eventually } from '../eventually.ts'

interface GroupOfTopic {
  readonly group: string
  readonly topic: string
}

/**
 * The next record of each partition that a group has not committed, 0 where it has committed none. Waits for the
 * group's coordinator: a new broker refuses to answer until it has read its log of offsets.
 */
export function committedOffsets(admin: Admin, { group, topic }: GroupOfTopic): Promise<Map<number, number>> {
  return eventually(
    async () => {
      const [committed] = await admin.fetchOffsets({ groupId: group, topics: [topic] })
      const partitions = committed?.partitions ?? []
      return new Map(partitions.map(({ partition, offset }) => [partition, Math.max(0, Number(offset))]))
    },
    { expectation: `the offsets of group ${group} to be known`, intervalMs: 20 },
  )
}

/** How many records of a topic a group has not committed. */
export async function groupLag(admin: Admin, { group, topic }: GroupOfTopic): Promise<number> {
  const [ends, committed] = await Promise.all([
    admin.fetchTopicOffsets(topic),
    committedOffsets(admin, { group, topic }),
  ])
  return ends.reduce((sum, { partition, high }) => sum + Number(high) - (committed.get(partition) ?? 0), 0)
}
