import { connect, type ConfirmChannel } from 'amqplib'
import { payload, type PayloadKind } from '../harness/payloads.ts'

/** Contract of everything that the benchmarks send. */
export const contractName = 'order-placed'

/** The queue of a benchmark, as an operator sees it. */
export interface BenchQueue extends AsyncDisposable {
  readonly name: string
  /** Empties it. */
  purge(): Promise<void>
  /** Messages that wait. */
  waiting(): Promise<number>
  /** Publishes fresh messages and waits for their confirms. */
  fill(kind: PayloadKind, messages: number): Promise<void>
}

/** What a round of a benchmark with a broker works with. */
export interface BrokerRound {
  readonly databaseUrl: string
  readonly amqpUrl: string
  readonly queue: BenchQueue
  readonly kind: PayloadKind
  readonly messages: number
}

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
    waiting: async () => (await channel.checkQueue(name)).messageCount,
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
      headers: {
        'litebus-message-id': id,
        'litebus-contract-name': contractName,
        'litebus-contract-version': '1',
      },
    },
    (error: unknown) => {
      if (error !== null) throw new Error('expected the broker to confirm', { cause: error })
      confirmed?.()
    },
  )
}
