import type { Visibility } from '../messages/new-message.ts'
import type { Headers } from '../ports/transport-message.ts'
import { wireHeaders } from './header-names.ts'
import { readLenientText } from './header-readers.ts'

const maxDelayMs = 10 * 365 * 24 * 3600 * 1000

/**
 * Reads when a message becomes due. The relative header wins; a value that is not a delay or a time, is negative,
 * or lies more than ten years ahead is ignored: a message that is due early is better than one that is due never.
 */
export function readVisibility(headers: Headers, nowMs: number): Visibility | undefined {
  const afterMs = parseDelay(readLenientText(headers, wireHeaders.visibleAfterDelay))
  if (afterMs !== undefined) return { afterMs }
  const at = parseTime(readLenientText(headers, wireHeaders.visibleAfter))
  // Years before 1970 are defaults of other platforms (0001-01-01), which no store could keep.
  return at !== undefined && at >= 0 && at - nowMs <= maxDelayMs ? { at: new Date(at) } : undefined
}

/** Writes when a message becomes due. */
export function writeVisibility(visibility: Visibility | undefined, headers: Record<string, string>): void {
  if (visibility === undefined) return
  if ('at' in visibility) headers[wireHeaders.visibleAfter] = visibility.at.toISOString()
  else headers[wireHeaders.visibleAfterDelay] = String(visibility.afterMs / 1000)
}

const iso8601 = /^\d{4}-\d{2}-\d{2}(?:T\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?(?:Z|[+-]\d{2}:?\d{2}))?$/

function parseTime(text: string | undefined): number | undefined {
  if (text === undefined || !iso8601.test(text)) return undefined
  const time = Date.parse(text)
  return Number.isNaN(time) ? undefined : time
}

const duration = /^P(?:(\d+)D)?(?:T(?=\d)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/

/** Decimal seconds (`1.5`) or an ISO 8601 duration of days to seconds (`PT5S`, `P1DT2H`), in milliseconds. */
function parseDelay(text: string | undefined): number | undefined {
  if (text === undefined || text.length > 64) return undefined
  const seconds = /^\d+(?:\.\d+)?$/.test(text) ? Number(text) : durationSeconds(text)
  const delayMs = seconds * 1000
  return delayMs <= maxDelayMs ? delayMs : undefined
}

function durationSeconds(text: string): number {
  const match = duration.exec(text)
  if (match === null || text === 'P') return Number.NaN
  const [days, hours, minutes, seconds] = match
    .slice(1)
    .map((part) => Number((part as string | undefined) ?? 0))
  return (((days ?? 0) * 24 + (hours ?? 0)) * 60 + (minutes ?? 0)) * 60 + (seconds ?? 0)
}
