import type { Clock, SendResult } from '@litebus/core'
import type { OpenConnection } from './connection.ts'
import type { AmqpDriverMessage } from './driver.ts'
import { createFlush } from './flush.ts'
import { closeQuietly } from './scratch-channel.ts'
import { readServerClose, type ServerClose } from './server-close.ts'

/** What is done with a delivery: always a nack, never a reject, which versions of the broker count differently. */
type ChannelSettlement = 'ack' | 'requeue' | 'discard'

/** One generation of a consuming channel; delivery numbers mean nothing outside of it. */
export interface ConsumeChannel {
  /** False once it closed. */
  readonly open: boolean
  /** Starts the consumer. */
  consume(source: string, prefetch: number): Promise<void>
  /** Ends the consumer; deliveries stay valid. */
  cancel(): Promise<void>
  /** Sends a settlement; `settled` once its frame has left on the open channel. */
  settle(message: AmqpDriverMessage, how: ChannelSettlement): Promise<SendResult>
  /** Closes it; the broker delivers what is unsettled again. */
  close(): Promise<void>
}

/** What happens on a consuming channel. */
export interface ConsumeEvents {
  /** A delivery. */
  readonly onMessage: (channel: ConsumeChannel, message: AmqpDriverMessage) => void
  /** The broker cancelled the consumer; the channel and its deliveries stay valid. */
  readonly onCancelled: (channel: ConsumeChannel) => void
  /** The channel is gone; `close` is what the broker said, if it closed it. */
  readonly onEnd: (channel: ConsumeChannel, close: ServerClose | undefined) => void
}

/** Opens a channel to consume on. */
export async function openConsumeChannel(
  connection: OpenConnection,
  clock: Clock,
  events: ConsumeEvents,
): Promise<ConsumeChannel> {
  const driver = await connection.driver.createChannel()
  const flush = createFlush(connection, clock)
  let open = true
  let consumerTag: string | undefined

  const end = (close: ServerClose | undefined): void => {
    if (!open) return
    open = false
    events.onEnd(channel, close)
  }
  driver.on('error', (error: Error) => {
    end(readServerClose(error))
  })
  driver.on('close', () => {
    end(undefined)
  })

  const send = (message: AmqpDriverMessage, how: ChannelSettlement): boolean => {
    try {
      // The client takes its own message back and reads the number of the delivery from it.
      if (how === 'ack') driver.ack(message as never)
      else driver.nack(message as never, false, how === 'requeue')
      return true
    } catch {
      return false
    }
  }

  const channel: ConsumeChannel = {
    get open() {
      return open
    },
    async consume(source, prefetch) {
      await driver.prefetch(prefetch)
      const reply = await driver.consume(
        source,
        (message) => {
          if (message !== null) events.onMessage(channel, message)
          else {
            consumerTag = undefined
            events.onCancelled(channel)
          }
        },
        {},
      )
      consumerTag = reply.consumerTag
    },
    async cancel() {
      if (consumerTag === undefined) return
      const tag = consumerTag
      consumerTag = undefined
      await driver.cancel(tag)
    },
    async settle(message, how) {
      if (!open || !send(message, how)) return 'notSent'
      const left = await flush.done()
      return left && channel.open ? 'settled' : 'unknown'
    },
    close: () => closeQuietly(driver),
  }
  return channel
}
