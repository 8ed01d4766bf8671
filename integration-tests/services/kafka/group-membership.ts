import { withKafkaAdmin } from './kafka-client.ts'
import { errorCodeOf } from './raw-request.ts'

/** A member of a group as the broker knows it. A rebalance raises the generation, also where the members stay. */
export interface GroupMember {
  readonly memberId: string
  readonly generation: number
}

const heartbeat = 12
const illegalGeneration = 22
const highestGeneration = 200

/**
 * Asks the broker for the members of a group. No request tells their generation, but a heartbeat under any other one
 * is refused.
 */
export async function groupMembership(url: string, group: string): Promise<readonly GroupMember[]> {
  const { host, port, members } = await withKafkaAdmin(url, async (admin) => {
    const { groups } = await admin.describeGroups([group])
    const { brokers } = await admin.describeCluster()
    const [broker] = brokers
    if (broker === undefined) throw new Error('expected a broker, found none')
    const { members = [] } = groups[0] ?? {}
    if (members.length === 0) throw new Error(`expected members of group ${group}, found none`)
    return { ...broker, members }
  })
  return Promise.all(
    members.map(async ({ memberId }) => {
      for (let generation = 1; generation <= highestGeneration; generation++) {
        const code = await errorCodeOf({ host, port, key: heartbeat, fields: [group, generation, memberId] })
        if (code === 0) return { memberId, generation }
        if (code !== illegalGeneration)
          throw new Error(`expected a group at rest, found error ${String(code)}`)
      }
      throw new Error(`expected a generation of at most ${String(highestGeneration)}`)
    }),
  )
}
