import { connect, type ConfirmChannel } from 'amqplib'
import { requiredHeaders, type BenchQueue } from '../broker/broker-round.ts'
import { payload } from '../harness/payloads.ts'

/** Declares a quorum queue, the default of the product. */
export async function openBenchQueue(url: string, name: string): Promise<BenchQueue> {
  const connection = await connect(url)
  const channel = await connection.createConfirmChannel()
  await channel.assertQueue(name, { durable: true, arguments: { 'x-queue-type': 'quorum' } })
  return {
    name,
    async purge() {
      await channel.purgeQueue(name)
    },
    async fill(kind, messages) {
      for (let from = 0; from < messages; from += 1000) {
        for (let index = from; index < Math.min(messages, from + 1000); index++)
          publishRaw(channel, name, { id: crypto.randomUUID(), body: Buffer.from(payload(kind, index)) })
        await channel.waitForConfirms()
      }
    },
    async [Symbol.asyncDispose]() {
      await channel.deleteQueue(name)
      await connection.close()
    },
  }
}

interface RawMessage {
  readonly id: string
  readonly body: Buffer
  readonly confirmed?: () => void
}

/** Publishes as the product does: mandatory, persistent, with the three headers that are always written. */
export function publishRaw(
  channel: ConfirmChannel,
  queue: string,
  { id, body, confirmed }: RawMessage,
): void {
  channel.publish(
    '',
    queue,
    body,
    {
      mandatory: true,
      persistent: true,
      messageId: id,
      contentType: 'application/json',
      timestamp: Math.floor(Date.now() / 1000),
      headers: requiredHeaders(id),
    },
    (error: unknown) => {
      if (error !== null) throw new Error('expected the broker to confirm', { cause: error })
      confirmed?.()
    },
  )
}
