import type { AmqpDriverChannel, AmqpDriverConnection } from './driver.ts'

/** Runs work on a channel of its own: what the broker refuses closes the channel, and nothing else with it. */
export async function onScratchChannel<T>(
  driver: AmqpDriverConnection,
  work: (channel: AmqpDriverChannel) => Promise<T>,
): Promise<T> {
  const channel = await driver.createChannel()
  // The failed call rejects with the same reason; without a listener the event would end the process.
  channel.on('error', () => undefined)
  try {
    return await work(channel)
  } finally {
    await closeQuietly(channel)
  }
}

/** Closes a channel that may be closed already. */
export async function closeQuietly(channel: AmqpDriverChannel): Promise<void> {
  try {
    await channel.close()
  } catch {
    // It was closed by the broker or with its connection.
  }
}
