import { publishFailures, type OutboundMessage, type PublishOutcome } from '@litebus/core'
import type { OpenConnection } from './connection.ts'
import type { AmqpDriverConfirmChannel, AmqpDriverMessage } from './driver.ts'
import { gatherWrites } from './gather-writes.ts'
import { readHeaders } from './headers.ts'
import type { ResolvedAmqpOptions } from './options.ts'
import { createPublishWindow, type Answered, type PublishIdentity } from './publish-window.ts'
import { closeQuietly } from './scratch-channel.ts'
import { readServerClose, type ServerClose } from './server-close.ts'

/** A publish on its way, with the one who waits for it. */
export interface OutstandingPublish extends PublishIdentity {
  /** The message. */
  readonly message: OutboundMessage
  /** Where it stands; `done` when it has its outcome. */
  state: 'waiting' | 'sent' | 'done'
  /** Receives the outcome; later calls change nothing. */
  settle(outcome: PublishOutcome): void
}

/** One generation of the confirm channel: what is sent on it is answered by it, at the latest when it closes. */
export interface PublishChannel {
  /** False once it closed. */
  readonly open: boolean
  /** Publishes that someone waits for. */
  readonly active: number
  /** Bytes of their bodies. */
  readonly activeBytes: number
  /** Sends; false when the channel closed before anything was sent. */
  send(publish: OutstandingPublish): boolean
  /** Nobody waits for it any more. */
  abandon(publish: OutstandingPublish): void
  /** Closes it. */
  close(): Promise<void>
}

/** Opens a confirm channel; `onAnswers` is called after each answer and `onClosed` once. */
export async function openPublishChannel(
  connection: OpenConnection,
  options: ResolvedAmqpOptions,
  events: { readonly onAnswers: () => void; readonly onClosed: (close: ServerClose | undefined) => void },
): Promise<PublishChannel> {
  const channel = await connection.driver.createConfirmChannel()
  const window = createPublishWindow<OutstandingPublish>()
  const writes = gatherWrites(connection.driver)
  let open = true

  const answer = (answered: readonly Answered<OutstandingPublish>[]): void => {
    for (const { entry, outcome } of answered) entry.settle(outcome)
    events.onAnswers()
  }
  const end = (close: ServerClose | undefined): void => {
    if (!open) return
    open = false
    writes[Symbol.dispose]()
    answer(window.closed(close))
    events.onClosed(close)
  }

  channel.on('ack', ({ deliveryTag, multiple }: ConfirmFields) => {
    answer(window.acked(deliveryTag, multiple))
  })
  channel.on('nack', ({ deliveryTag, multiple }: ConfirmFields) => {
    answer(window.nacked(deliveryTag, multiple))
  })
  channel.on('return', (message: AmqpDriverMessage) => {
    window.returned(identityOf(message))
  })
  channel.on('error', (error: Error) => {
    end(readServerClose(error))
  })
  channel.on('close', () => {
    end(undefined)
  })

  return {
    get open() {
      return open
    },
    get active() {
      return window.active
    },
    get activeBytes() {
      return window.activeBytes
    },
    send(publish) {
      if (!open) return false
      try {
        write(channel, publish, options)
      } catch (error) {
        // The client refuses to encode, or its channel is closing: nothing was written in either case.
        if (!(error instanceof TypeError || error instanceof RangeError)) return false
        publish.settle({ status: 'rejected', failure: publishFailures.headerInvalid })
        return true
      }
      publish.state = 'sent'
      window.sent(publish)
      writes.published()
      return true
    },
    abandon(publish) {
      window.abandon(publish)
    },
    close: () => closeQuietly(channel),
  }
}

interface ConfirmFields {
  readonly deliveryTag: number
  readonly multiple: boolean
}

function write(
  channel: AmqpDriverConfirmChannel,
  { message, exchange, routingKey }: OutstandingPublish,
  options: ResolvedAmqpOptions,
): void {
  const { expirationMs, persistent = true, ...properties } = options.properties(message)
  channel.publish(exchange, routingKey, bufferOf(message.body), {
    ...properties,
    ...(expirationMs === undefined ? {} : { expiration: String(expirationMs) }),
    mandatory: true,
    persistent,
    messageId: message.messageId,
    contentType: message.contentType ?? 'application/json',
    timestamp: Math.floor(options.clock.now() / 1000),
    headers: message.headers,
  })
}

function bufferOf(body: Uint8Array): Buffer {
  return Buffer.isBuffer(body) ? body : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

function identityOf(message: AmqpDriverMessage): PublishIdentity {
  const headers = readHeaders(message)
  return {
    exchange: message.fields.exchange,
    routingKey: message.fields.routingKey,
    messageId: typeof message.properties.messageId === 'string' ? message.properties.messageId : '',
    body: message.content,
    headers: Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name, typeof value === 'string' ? value : '']),
    ),
  }
}
