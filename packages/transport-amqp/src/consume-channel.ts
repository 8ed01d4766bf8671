import { nextTick } from 'node:process'
import type { Clock, SendResult } from '@litebus/core'
import type { OpenConnection } from './connection.ts'
import type { AmqpDriverMessage } from './driver.ts'
import { createFlush } from './flush.ts'
import { closeQuietly } from './scratch-channel.ts'
import { readServerClose, type ServerClose } from './server-close.ts'
import { createSettledTags } from './settled-tags.ts'

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

/** Acknowledgements that wait for the end of the turn. */
interface GatheredAcks {
  readonly byTag: Map<number, AmqpDriverMessage>
  readonly sent: Promise<SentAcks>
}

/** What became of acknowledgements: of those that were not sent nothing left this process. */
interface SentAcks {
  readonly unsent: ReadonlySet<AmqpDriverMessage>
  readonly result: SendResult
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
  const settled = createSettledTags()
  let gathering: GatheredAcks | undefined
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

  /** The client takes its own message back and reads the number of the delivery from it. */
  const send = (how: ChannelSettlement | 'ackUpTo', message: AmqpDriverMessage): boolean => {
    if (!open) return false
    try {
      if (how === 'ack' || how === 'ackUpTo') driver.ack(message as never, how === 'ackUpTo')
      else driver.nack(message as never, false, how === 'requeue')
      return true
    } catch {
      return false
    }
  }
  const afterFlush = async (): Promise<SendResult> =>
    (await flush.done()) && channel.open ? 'settled' : 'unknown'

  const refuse = async (message: AmqpDriverMessage, how: 'requeue' | 'discard'): Promise<SendResult> => {
    if (!send(how, message)) return 'notSent'
    settled.add(message.fields.deliveryTag)
    return afterFlush()
  }
  /** Deliveries that end together are acknowledged together, when nothing else is left to do in this turn. */
  const acknowledge = async (message: AmqpDriverMessage): Promise<SendResult> => {
    gathering ??= gather()
    const { byTag, sent } = gathering
    byTag.set(message.fields.deliveryTag, message)
    const { unsent, result } = await sent
    return unsent.has(message) ? 'notSent' : result
  }
  const gather = (): GatheredAcks => {
    const byTag = new Map<number, AmqpDriverMessage>()
    const { promise: sent, resolve } = Promise.withResolvers<SentAcks>()
    nextTick(() => {
      gathering = undefined
      const unsent = sendAcks(byTag)
      void afterFlush().then((result) => {
        resolve({ unsent, result })
      })
    })
    return { byTag, sent }
  }
  const sendAcks = (byTag: ReadonlyMap<number, AmqpDriverMessage>): ReadonlySet<AmqpDriverMessage> => {
    const { upTo, alone } = settled.acknowledge(byTag)
    if (upTo !== undefined && !send('ackUpTo', upTo)) return new Set(byTag.values())
    return new Set(alone.filter((message) => !send('ack', message)))
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
          if (message === null) {
            consumerTag = undefined
            events.onCancelled(channel)
            return
          }
          events.onMessage(channel, message)
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
    settle: (message, how) => (how === 'ack' ? acknowledge(message) : refuse(message, how)),
    close: () => closeQuietly(driver),
  }
  return channel
}
