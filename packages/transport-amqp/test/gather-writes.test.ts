import { PassThrough, Writable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from '@jest/globals'
import type { AmqpDriverConnection } from '../src/driver.ts'
import { gatherWrites } from '../src/gather-writes.ts'

describe('Gathering of writes', () => {
  it('has what is published in one turn leave in one write', async () => {
    const { socket, writes, publish } = openClient()
    using gathering = gatherWrites(connectionOf(socket))
    for (let count = 0; count < 5; count += 1) publish(gathering.published)
    await setImmediate()
    await setImmediate()
    expect(writes).toEqual([5])
    publish(gathering.published)
    await setImmediate()
    await setImmediate()
    expect(writes).toEqual([5, 1])
  })

  it('has what a full socket takes when it is empty again leave in one write', async () => {
    const { socket, writes, publish } = openClient()
    using gathering = gatherWrites(connectionOf(socket))
    for (let count = 0; count < 12; count += 1) publish(gathering.published)
    for (let turn = 0; turn < 20; turn += 1) await setImmediate()
    expect(writes).toEqual([5, 5, 2])
  })

  it('leaves no listener on the socket', () => {
    const { socket } = openClient()
    const before = socket.listenerCount('drain')
    gatherWrites(connectionOf(socket))[Symbol.dispose]()
    expect(socket.listenerCount('drain')).toBe(before)
  })

  it('does without a socket where the client hides it', () => {
    const gathering = gatherWrites({} as AmqpDriverConnection)
    expect(() => {
      gathering.published()
    }).not.toThrow()
  })
})

/** Moves messages to its socket as amqplib does; `writes` counts the messages of each write. */
function openClient(): {
  readonly socket: Writable
  readonly writes: number[]
  readonly publish: (published: () => void) => void
} {
  const writes: number[] = []
  const socket = new Writable({
    highWaterMark: 50,
    write(_chunk, _encoding, done) {
      writes.push(1)
      done()
    },
    writev(chunks, done) {
      writes.push(chunks.length)
      done()
    },
  })
  const channel = new PassThrough()
  let blocked = false
  const move = (): void => {
    while (!blocked) {
      const chunk = channel.read(10) as Buffer | null
      if (chunk === null) return
      blocked = !socket.write(chunk)
    }
  }
  channel.on('readable', () => {
    globalThis.setImmediate(move)
  })
  socket.on('drain', () => {
    blocked = false
    move()
  })
  return {
    socket,
    writes,
    publish(published) {
      channel.write(Buffer.alloc(10))
      published()
    },
  }
}

function connectionOf(stream: Writable): AmqpDriverConnection {
  return { connection: { stream } } as unknown as AmqpDriverConnection
}
