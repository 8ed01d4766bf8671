import type { RunningService } from '../service-definition.ts'
import { withKafkaAdmin } from './kafka-client.ts'

/** A Kafka on which every space is a prefix of topics and groups; both are deleted with it. */
export function kafkaTopics({
  url,
  end,
}: {
  readonly url: string
  readonly end: () => Promise<void>
}): RunningService {
  return {
    url,
    openSpace: (name) =>
      Promise.resolve({ url, prefix: `${name}.`, [Symbol.asyncDispose]: () => removeAll(url, `${name}.`) }),
    [Symbol.asyncDispose]: end,
  }
}

async function removeAll(url: string, prefix: string): Promise<void> {
  await withKafkaAdmin(url, async (admin) => {
    const topics = (await admin.listTopics()).filter((topic) => topic.startsWith(prefix))
    if (topics.length > 0) await admin.deleteTopics({ topics })
    const { groups } = await admin.listGroups()
    const own = groups.map(({ groupId }) => groupId).filter((group) => group.startsWith(prefix))
    // A group with a member that has not timed out yet stays; it is nobody else's.
    await Promise.allSettled(own.map((group) => admin.deleteGroups([group])))
  })
}
