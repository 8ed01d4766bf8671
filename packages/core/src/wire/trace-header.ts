import { isStorableText } from '../stores/storable.ts'
import type { TraceContext } from '../messages/trace-context.ts'
import type { Headers } from '../ports/transport-message.ts'
import { readLenientText } from './header-readers.ts'
import { wireHeaders } from './header-names.ts'

const traceparentPattern = /^[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** Writes the trace context twice: natively for every other stack, and in one header of our own. */
export function writeTrace(trace: TraceContext | undefined, headers: Record<string, string>): void {
  if (trace === undefined) return
  headers[wireHeaders.traceparent] = trace.traceparent
  if (trace.tracestate !== undefined) headers[wireHeaders.tracestate] = trace.tracestate
  if (trace.baggage !== undefined) headers[wireHeaders.baggage] = trace.baggage
  headers[wireHeaders.traceContext] =
    trace.tracestate === undefined
      ? trace.traceparent
      : JSON.stringify({ traceparent: trace.traceparent, tracestate: trace.tracestate })
}

/**
 * Reads the trace context: our own header first (it survives brokers and proxies that rewrite the native ones),
 * then the native ones. What is malformed is as good as absent: a trace must never stop a message.
 */
export function readTrace(headers: Headers): TraceContext | undefined {
  const own = parseOwn(readLenientText(headers, wireHeaders.traceContext))
  const traceparent = own?.traceparent ?? valid(readLenientText(headers, wireHeaders.traceparent))
  if (traceparent === undefined) return undefined
  const tracestate = storable(own?.tracestate ?? readLenientText(headers, wireHeaders.tracestate))
  const baggage = storable(readLenientText(headers, wireHeaders.baggage))
  return {
    traceparent,
    ...(tracestate === undefined ? {} : { tracestate }),
    ...(baggage === undefined ? {} : { baggage }),
  }
}

function parseOwn(text: string | undefined): { traceparent: string; tracestate?: string } | undefined {
  if (text === undefined) return undefined
  if (!text.startsWith('{')) {
    const traceparent = valid(text)
    return traceparent === undefined ? undefined : { traceparent }
  }
  try {
    const parsed = JSON.parse(text) as { readonly traceparent?: unknown; readonly tracestate?: unknown }
    const traceparent = typeof parsed.traceparent === 'string' ? valid(parsed.traceparent) : undefined
    if (traceparent === undefined) return undefined
    return typeof parsed.tracestate === 'string'
      ? { traceparent, tracestate: parsed.tracestate }
      : { traceparent }
  } catch {
    return undefined
  }
}

/** No store keeps NUL or a lone surrogate in text: such a value would have the whole message refused. */
function storable(text: string | undefined): string | undefined {
  return text === undefined || !isStorableText(text) ? undefined : text
}

function valid(traceparent: string | undefined): string | undefined {
  const lower = traceparent?.toLowerCase()
  return lower !== undefined && traceparentPattern.test(lower) ? lower : undefined
}
