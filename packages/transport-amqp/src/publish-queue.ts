import { isLiteBusError, publishFailures, type Failure } from '@litebus/core'
import type { AmqpConnection, OpenConnection } from './connection.ts'
import type { ResolvedAmqpOptions } from './options.ts'
import { openPublishChannel, type OutstandingPublish, type PublishChannel } from './publish-channel.ts'
import type { ServerClose } from './server-close.ts'

/** Publishes in order over one confirm channel at a time, as many unconfirmed as the window allows. */
export interface PublishQueue {
  /** Sends it as soon as there is a channel with room. */
  add(publish: OutstandingPublish): void
  /** Nobody waits for it any more: it is not sent, or its place in the window is free. */
  abandon(publish: OutstandingPublish): void
  /** Resolves when nothing is waiting and nothing is unconfirmed. */
  idle(): Promise<void>
}

/** An empty queue without a channel. */
export function createPublishQueue(
  options: ResolvedAmqpOptions,
  connection: AmqpConnection,
  onChannelClosed: (close: ServerClose) => void,
): PublishQueue {
  const queue: OutstandingPublish[] = []
  const idleWaiters = new Set<() => void>()
  let channel: PublishChannel | undefined
  let opening = false

  const isIdle = (): boolean => queue.length === 0 && (channel?.active ?? 0) === 0

  const hasRoom = (on: PublishChannel, { body }: OutstandingPublish): boolean =>
    on.active === 0 ||
    (on.active < options.publishWindow && on.activeBytes + body.byteLength <= options.publishWindowBytes)

  const pump = (): void => {
    for (let next = queue[0]; next !== undefined; next = queue[0]) {
      if (next.state === 'waiting') {
        if (connection.blocked) break
        if (channel?.open !== true) {
          void openChannel()
          break
        }
        if (!hasRoom(channel, next)) break
        if (!channel.send(next)) {
          channel = undefined
          continue
        }
      }
      queue.shift()
    }
    if (isIdle()) for (const wake of [...idleWaiters]) wake()
  }

  const openChannel = async (): Promise<void> => {
    if (opening) return
    opening = true
    let open: OpenConnection | undefined
    try {
      open = await connection.ready()
      channel = await openPublishChannel(open, options, { onAnswers: pump, onClosed: closed })
    } catch (error) {
      // A connection lost in between is no answer: the next one, or the failure to open it, is.
      if (open?.lost.aborted !== true) refuseAll(unavailability(error))
    }
    opening = false
    pump()
  }

  const closed = (close: ServerClose | undefined): void => {
    channel = undefined
    if (close !== undefined) {
      options.logger.warn('the broker closed the publish channel; it is opened again', {
        code: close.code,
        reason: close.text,
      })
      onChannelClosed(close)
    }
    queueMicrotask(pump)
  }

  const refuseAll = (failure: Failure): void => {
    for (const publish of queue.splice(0)) publish.settle({ status: 'unavailable', failure })
  }

  connection.onChange(pump)

  return {
    add(publish) {
      queue.push(publish)
      pump()
    },
    abandon(publish) {
      channel?.abandon(publish)
      pump()
    },
    idle: () =>
      new Promise((resolve) => {
        if (isIdle()) {
          resolve()
          return
        }
        const wake = (): void => {
          idleWaiters.delete(wake)
          resolve()
        }
        idleWaiters.add(wake)
      }),
  }
}

/** Why nothing can be sent: closed by its owner, or no connection. */
export function unavailability(error: unknown): Failure {
  return isLiteBusError(error, 'TRANSPORT_CLOSED') ? publishFailures.closed : publishFailures.connectionLost
}
