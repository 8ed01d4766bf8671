/**
 * Chooses the partition of a key as the Java client does (murmur2 of its bytes), so that records of one key from
 * different producers meet in one partition.
 */
export function partitionOfKey(key: Uint8Array, partitions: number): number {
  return (murmur2(key) & 0x7fffffff) % partitions
}

const multiplier = 0x5bd1e995
const seed = 0x9747b28c

function murmur2(bytes: Uint8Array): number {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const whole = bytes.byteLength & ~3
  let hash = seed ^ bytes.byteLength
  for (let at = 0; at < whole; at += 4) {
    let word = Math.imul(view.getInt32(at, true), multiplier)
    word ^= word >>> 24
    hash = Math.imul(hash, multiplier) ^ Math.imul(word, multiplier)
  }
  if (bytes.byteLength > whole) {
    for (let at = bytes.byteLength - 1; at >= whole; at -= 1) hash ^= view.getUint8(at) << (8 * (at - whole))
    hash = Math.imul(hash, multiplier)
  }
  hash ^= hash >>> 13
  hash = Math.imul(hash, multiplier)
  return hash ^ (hash >>> 15)
}
