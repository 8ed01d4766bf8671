import { expect, test } from '@jest/globals'
import { connect } from 'amqplib'
import { describeWithServices } from '../services/describe-with-services.ts'

async function withChannel<T>(
  url: string,
  use: (channel: Awaited<ReturnType<typeof openChannel>>['channel']) => Promise<T>,
): Promise<T> {
  const { connection, channel } = await openChannel(url)
  try {
    return await use(channel)
  } finally {
    await connection.close()
  }
}

async function openChannel(url: string) {
  const connection = await connect(url)
  const channel = await connection.createConfirmChannel()
  /* Whoever waits for a call on the channel is told by its rejection. */
  channel.on('error', () => undefined)
  return { connection, channel }
}

await describeWithServices('the RabbitMQ of the tests', ['rabbitmq'], ({ rabbitmq }) => {
  test('keeps the queues of two callers apart', async () => {
    await using first = await rabbitmq.createVhost()
    await using second = await rabbitmq.createVhost()
    await withChannel(first.url, async (channel) => {
      await channel.assertQueue(`${first.prefix}orders`)
      channel.sendToQueue(`${first.prefix}orders`, Buffer.from('one'))
      await channel.waitForConfirms()
    })
    const seen = await withChannel(second.url, (channel) => channel.assertQueue(`${second.prefix}orders`))
    expect(seen.messageCount).toBe(0)
    await withChannel(first.url, (channel) => channel.deleteQueue(`${first.prefix}orders`))
    await withChannel(second.url, (channel) => channel.deleteQueue(`${second.prefix}orders`))
  })
})

await describeWithServices('a RabbitMQ node of a test', ['startRabbitNode'], ({ startRabbitNode }) => {
  test('keeps durable messages over a crash, raises alarms on demand, and leaves nothing behind', async () => {
    await using node = await startRabbitNode({ settings: { heartbeat: '7' } })
    await withChannel(node.url, async (channel) => {
      await channel.assertQueue('kept', { durable: true })
      channel.sendToQueue('kept', Buffer.from('one'), { persistent: true })
      await channel.waitForConfirms()
    })
    expect(await node.ctl(['environment'])).toContain('{heartbeat,7}')
    /* The node answers a declaration before the definition is on disk. */
    await node.ctl(['eval', 'mnesia:sync_log().'])
    await node.kill()
    await expect(connect(node.url)).rejects.toThrow('ECONNREFUSED')
    await node.start()
    expect(await withChannel(node.url, (channel) => channel.checkQueue('kept'))).toMatchObject({
      messageCount: 1,
    })
    await node.ctl(['set_vm_memory_high_watermark', '0.000001'])
    expect(await node.ctl(['eval', 'rabbit_alarm:get_alarms().'])).toContain('memory')
    await node[Symbol.asyncDispose]()
    await expect(connect(node.url)).rejects.toThrow('ECONNREFUSED')
  }, 90_000)
})
