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

const texts = [
  'tenantId',
  'orderingKey',
  'topic',
  'correlationId',
  'causationId',
  'sourceId',
  'sendKey',
] as const satisfies readonly (keyof WriteOptions)[]

/** Names every fault of the options of one write, never a value: keys and headers can be personal data. */
export function writeFaults(options: WriteOptions): readonly string[] {
  const faults: string[] = []
  for (const name of texts) {
    const fault = textFault(name, options[name])
    if (fault !== undefined) faults.push(fault)
  }
  const { idempotency, body, visibility, headers, trace } = options
  if (idempotency !== undefined) {
    const { key, mode } = idempotency
    const fault =
      typeof key === 'string' ? textFault('idempotency.key', key) : 'expected idempotency.key to be text'
    if (fault !== undefined) faults.push(fault)
    if (mode !== undefined && !modes.has(mode)) {
      faults.push(`expected idempotency.mode to be 'returnExisting' or 'strict', found ${mode}`)
    }
  }
  if (body !== undefined && !ArrayBuffer.isView(body)) {
    faults.push(`expected body to be a Uint8Array, found ${typeof body}`)
  }
  if (visibility !== undefined) faults.push(...visibilityFaults(visibility))
  if (headers !== undefined) faults.push(...headerFaults(headers))
  if (trace !== undefined) faults.push(...traceFaults(trace))
  return faults
}

function textFault(name: string, value: string | undefined): string | undefined {
  if (value === undefined) return undefined
  if (typeof value !== 'string') return `expected ${name} to be text, found ${typeof value}`
  if (value.length > maxKeyLength || (value === '' && name !== 'tenantId')) {
    return `expected ${name} of 1 to ${String(maxKeyLength)} characters, found ${String(value.length)}`
  }
  return isStorableText(value) ? undefined : `expected ${name} without NUL and lone surrogates`
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
