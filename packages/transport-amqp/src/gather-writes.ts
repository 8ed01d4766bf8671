import type { AmqpDriverConnection } from './driver.ts'
import { socketOf, type SocketLike } from './socket.ts'

/**
 * Has what is published in one turn of the event loop leave together. The client writes each message to the socket by
 * itself, with a system call for each of them.
 */
export interface WriteGathering extends Disposable {
  /** A message was handed to the client. */
  readonly published: () => void
}

/** Gathers the writes of one connection; a client that hides its socket writes as it does. */
export function gatherWrites(connection: AmqpDriverConnection): WriteGathering {
  const socket = socketOf(connection)
  if (!canGather(socket)) return { published: () => undefined, [Symbol.dispose]: () => undefined }
  let gathering = false
  const release = (): void => {
    socket.uncork()
  }
  const releaseTurn = (): void => {
    gathering = false
    release()
  }
  // A socket that was full takes the rest from the client at once, in the listener behind this one.
  const onDrain = (): void => {
    socket.cork()
    process.nextTick(release)
  }
  socket.prependListener('drain', onDrain)
  return {
    published() {
      if (gathering) return
      gathering = true
      socket.cork()
      // amqplib (its `Mux`, up to 2.3) learns of the message in the next tick and moves it to the socket in an immediate
      // of that tick, which this one follows. Were that to change, each message would be written by itself again.
      process.nextTick(setImmediate, releaseTurn)
    },
    [Symbol.dispose]() {
      socket.removeListener('drain', onDrain)
    },
  }
}

const members = ['cork', 'uncork', 'prependListener', 'removeListener'] as const

type GatheringSocket = Required<Pick<SocketLike, (typeof members)[number]>>

function canGather(socket: SocketLike | undefined): socket is SocketLike & GatheringSocket {
  return socket !== undefined && members.every((member) => typeof socket[member] === 'function')
}
