import type { RecordRetry } from './partition-progress.ts'

/** Most retries that one commit carries: the broker takes 4096 bytes of metadata by default. */
const maxRetries = 40

/** The text that travels with a committed offset; empty where no retry is known. The lowest offsets come first. */
export function writeCommitMetadata(retries: ReadonlyMap<bigint, RecordRetry>): string {
  if (retries.size === 0) return ''
  const entries = [...retries]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, maxRetries)
    .map(([offset, { attempt, firstFailureAtMs }]) => [String(offset), attempt, firstFailureAtMs ?? 0])
  return JSON.stringify({ litebus: 1, retries: entries })
}

/** Reads it; total: what another program wrote there means no retries. */
export function readCommitMetadata(text: string | null | undefined): ReadonlyMap<bigint, RecordRetry> {
  const retries = new Map<bigint, RecordRetry>()
  for (const entry of entriesOf(text)) {
    const [offset, attempt, firstFailureAtMs] = entry as readonly unknown[]
    if (typeof offset !== 'string' || !/^\d{1,19}$/u.test(offset)) continue
    if (!isCount(attempt)) continue
    retries.set(BigInt(offset), {
      attempt,
      ...(isCount(firstFailureAtMs) && firstFailureAtMs > 0 ? { firstFailureAtMs } : {}),
    })
  }
  return retries
}

function entriesOf(text: string | null | undefined): readonly unknown[] {
  if (text === null || text === undefined || !text.startsWith('{"litebus":1,')) return []
  try {
    const { retries } = JSON.parse(text) as { readonly retries?: unknown }
    return Array.isArray(retries) ? retries.filter((entry) => Array.isArray(entry)).slice(0, maxRetries) : []
  } catch {
    return []
  }
}

function isCount(value: unknown): value is number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
}
