import { once } from 'node:events'
import { connect } from 'node:net'

/** A request of the protocol that the client has no call for. */
export interface RawRequest {
  readonly host: string
  readonly port: number
  /** Number of the request in the protocol. */
  readonly key: number
  /** Fields of its version 0: text, and integers of four bytes. */
  readonly fields: readonly (string | number)[]
}

/** Sends a request, version 0, whose answer is an error code; answers that. */
export async function errorCodeOf({ host, port, key, fields }: RawRequest): Promise<number> {
  const parts = fields.map((field) => (typeof field === 'string' ? text(field) : int32(field)))
  const body = Buffer.concat([int16(key), int16(0), int32(1), text('tests'), ...parts])
  const socket = connect({ host, port })
  try {
    socket.write(Buffer.concat([int32(body.byteLength), body]))
    const [answer] = (await once(socket, 'data')) as [Buffer]
    return answer.readInt16BE(8)
  } finally {
    socket.destroy()
  }
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([int16(bytes.byteLength), bytes])
}
