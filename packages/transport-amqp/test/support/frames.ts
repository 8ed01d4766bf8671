/** A method that a client sent, with the number of the delivery that a settlement names. */
export interface ClientMethod {
  readonly name: 'basic.ack' | 'basic.nack' | 'basic.reject' | 'other'
  readonly channel: number
  readonly deliveryTag: bigint | undefined
}

const settlements: Readonly<Record<number, ClientMethod['name']>> = {
  80: 'basic.ack',
  90: 'basic.reject',
  120: 'basic.nack',
}
const greetingBytes = 8
const headerBytes = 7
const methodFrame = 1
const basicClass = 60

/**
 * Reads what a client sends on one connection, for tests that have to know what reached the wire. The result is
 * called with bytes as they come, and calls back for each method.
 */
export function readClientFrames(onMethod: (method: ClientMethod) => void): (bytes: Buffer) => void {
  let pending = Buffer.alloc(0)
  let greeted = false
  return (bytes) => {
    pending = Buffer.concat([pending, bytes])
    if (!greeted && pending.length >= greetingBytes) {
      greeted = true
      pending = pending.subarray(greetingBytes)
    }
    while (greeted && pending.length >= headerBytes) {
      const payloadBytes = pending.readUInt32BE(3)
      const end = headerBytes + payloadBytes + 1
      if (pending.length < end) return
      if (pending.readUInt8(0) === methodFrame) onMethod(methodOf(pending))
      pending = pending.subarray(end)
    }
  }
}

function methodOf(frame: Buffer): ClientMethod {
  const isBasic = frame.readUInt16BE(headerBytes) === basicClass
  const name = (isBasic ? settlements[frame.readUInt16BE(headerBytes + 2)] : undefined) ?? 'other'
  return {
    name,
    channel: frame.readUInt16BE(1),
    deliveryTag: name === 'other' ? undefined : frame.readBigUInt64BE(headerBytes + 4),
  }
}
