import { once } from 'node:events'
import { connect } from 'node:net'
import type { Admin } from 'kafkajs'

const leaveGroup = 13

/** Takes a member out of its group from the outside, as an operator can; KafkaJS has no call for it. */
export async function evictMembers(admin: Admin, port: number, group: string): Promise<void> {
  const { groups } = await admin.describeGroups([group])
  for (const { memberId } of groups[0]?.members ?? []) await evict(port, group, memberId)
}

/** `LeaveGroup` version 0: header with key, version, number and client, then group and member. */
async function evict(port: number, group: string, memberId: string): Promise<void> {
  const body = Buffer.concat([
    int16(leaveGroup),
    int16(0),
    int32(1),
    text('tests'),
    text(group),
    text(memberId),
  ])
  const socket = connect({ host: '127.0.0.1', port })
  socket.write(Buffer.concat([int32(body.byteLength), body]))
  const [answer] = (await once(socket, 'data')) as [Buffer]
  socket.destroy()
  const code = answer.readInt16BE(8)
  if (code !== 0) throw new Error(`expected the member to be taken out, found error ${String(code)}`)
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
