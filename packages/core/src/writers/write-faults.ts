import type { WriteOptions } from '../ports/writers.ts'
import type { Visibility } from '../messages/new-message.ts'
import type { TraceContext } from '../messages/trace-context.ts'
import { InboxIngressError } from '../errors/errors.ts'
import { isStorableText } from '../stores/storable.ts'
import { checkHeaderBounds } from '../wire/header-bounds.ts'
import { isReservedHeader } from '../wire/header-names.ts'

const maxKeyLength = 512
const modes: ReadonlySet<string> = new Set(['returnExisting', 'strict'])
const maxDelayMs = 10 * 365 * 24 * 3600 * 1000

/** Names every fault of the options of one write, never a value: keys and headers can be personal data. */
export function writeFaults(options: WriteOptions): string[] {
  const faults: string[] = []
  const text = (name: string, value: string | undefined, allowEmpty = false): void => {
    if (value === undefined) return
    if (typeof value !== 'string') faults.push(`expected ${name} to be text, found ${typeof value}`)
    else if (value.length > maxKeyLength || (value === '' && !allowEmpty)) {
      faults.push(
        `expected ${name} of 1 to ${String(maxKeyLength)} characters, found ${String(value.length)}`,
      )
    } else if (!isStorableText(value)) faults.push(`expected ${name} without NUL and lone surrogates`)
  }
  text('tenantId', options.tenantId, true)
  text('orderingKey', options.orderingKey)
  text('topic', options.topic)
  text('correlationId', options.correlationId)
  text('causationId', options.causationId)
  text('sourceId', options.sourceId)
  text('sendKey', options.sendKey)
  text('idempotency.key', options.idempotency?.key)
  if (options.idempotency !== undefined && typeof options.idempotency.key !== 'string') {
    faults.push('expected idempotency.key to be text')
  }
  if (options.body !== undefined && !ArrayBuffer.isView(options.body)) {
    faults.push(`expected body to be a Uint8Array, found ${typeof options.body}`)
  }
  const mode = options.idempotency?.mode
  if (mode !== undefined && !modes.has(mode)) {
    faults.push(`expected idempotency.mode to be 'returnExisting' or 'strict', found ${mode}`)
  }
  const { visibility, headers, trace } = options
  if (visibility === undefined && headers === undefined && trace === undefined) return faults
  return faults.concat(
    visibility === undefined ? [] : visibilityFaults(visibility),
    headers === undefined ? [] : headerFaults(headers),
    trace === undefined ? [] : traceFaults(trace),
  )
}

function visibilityFaults(visibility: Visibility): readonly string[] {
  if ('at' in visibility) {
    const valid = visibility.at instanceof Date && !Number.isNaN(visibility.at.getTime())
    return valid ? [] : ['expected visibility.at to be a valid Date']
  }
  const valid = visibility.afterMs >= 0 && visibility.afterMs <= maxDelayMs
  return valid ? [] : [`expected visibility.afterMs from 0 to ten years, found ${String(visibility.afterMs)}`]
}

function headerFaults(headers: Readonly<Record<string, string>>): readonly string[] {
  const faults: string[] = []
  for (const [name, value] of Object.entries(headers)) {
    if (name === '' || !isStorableText(name))
      faults.push('expected header names that are not empty, without NUL')
    else if (isReservedHeader(name)) faults.push(`expected no reserved header, found ${name}`)
    else if (typeof value !== 'string' || !isStorableText(value)) {
      faults.push(`expected header ${name} to be text without NUL and lone surrogates`)
    }
  }
  try {
    checkHeaderBounds(headers)
  } catch (error) {
    if (!(error instanceof InboxIngressError)) throw error
    faults.push(error.message)
  }
  return faults
}

function traceFaults(trace: TraceContext): readonly string[] {
  const values: readonly unknown[] = [trace.traceparent, trace.tracestate ?? '', trace.baggage ?? '']
  const valid = values.every(
    (value) => typeof value === 'string' && value.length <= 8192 && isStorableText(value),
  )
  return valid && trace.traceparent !== ''
    ? []
    : ['expected trace of W3C headers, at most 8192 characters each']
}
