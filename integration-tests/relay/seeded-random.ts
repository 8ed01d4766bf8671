/** Uniform in [0, 1), the same for the same seed (mulberry32). */
export function seededRandom(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** The seed to replay from `LITEBUS_SEED`, or a fresh one; printed, so that a failure can be repeated. */
export function printedSeed(what: string): number {
  const given = Number(process.env['LITEBUS_SEED'])
  const seed = Number.isSafeInteger(given) && given > 0 ? given : Math.floor(Math.random() * 2 ** 31)
  process.stderr.write(`${what}: seed ${String(seed)} (repeat it with LITEBUS_SEED=${String(seed)})\n`)
  return seed
}
