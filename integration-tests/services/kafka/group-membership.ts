import { once } from 'node:events'
import { connect } from 'node:net'
import { withKafkaAdmin } from './kafka-client.ts'

/** A member of a group as the broker knows it. A rebalance raises the generation, also where the members stay. */
export interface GroupMember {
  readonly memberId: string
  readonly generation: number
}

const heartbeat = 12
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
        const code = await beat({ host, port }, { group, generation, memberId })
        if (code === 0) return { memberId, generation }
        if (code !== 22) throw new Error(`expected a group at rest, found error ${String(code)}`)
      }
      throw new Error(`expected a generation of at most ${String(highestGeneration)}`)
    }),
  )
}

/** `Heartbeat` version 0; answers its error code, 22 for another generation. */
async function beat(
  address: { readonly host: string; readonly port: number },
  { group, generation, memberId }: GroupMember & { readonly group: string },
): Promise<number> {
  const parts = [
    int16(heartbeat),
    int16(0),
    int32(1),
    text('tests'),
    text(group),
    int32(generation),
    text(memberId),
  ]
  const body = Buffer.concat(parts)
  const socket = connect(address)
  try {
    socket.write(Buffer.concat([int32(body.byteLength), body]))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    return answer.readInt16BE(8)
  } finally {
    socket.destroy()
  }
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([int16(bytes.byteLength), bytes])
}
