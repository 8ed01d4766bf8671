import type { Admin } from 'kafkajs'
import { errorCodeOf } from '../../../../integration-tests/services/index.ts'

const leaveGroup = 13

/** Takes the members out of a group from the outside, as an operator can; KafkaJS has no call for it. */
export async function evictMembers(admin: Admin, port: number, group: string): Promise<void> {
  const { groups } = await admin.describeGroups([group])
  for (const { memberId } of groups[0]?.members ?? []) {
    const code = await errorCodeOf({ host: '127.0.0.1', port, key: leaveGroup, fields: [group, memberId] })
    if (code !== 0) throw new Error(`expected the member to be taken out, found error ${String(code)}`)
  }
}
