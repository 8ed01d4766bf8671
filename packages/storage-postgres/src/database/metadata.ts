import type { MessageMetadata, TraceContext } from '@litebus/core'

/** What is stored as one text because nothing selects by it. */
type Metadata = Pick<MessageMetadata, 'topic' | 'correlationId' | 'causationId' | 'headers' | 'sourceId'>

/**
 * Writes the metadata that no query selects by. JSON escapes what PostgreSQL text cannot hold, so header values come
 * back as they were, whatever they contain.
 */
export function encodeMetadata(message: MessageMetadata): string | null {
  const { topic, correlationId, causationId, headers, sourceId } = message
  if (
    topic === undefined &&
    correlationId === undefined &&
    causationId === undefined &&
    headers === undefined &&
    sourceId === undefined
  ) {
    return null
  }
  return JSON.stringify({ topic, correlationId, causationId, headers, sourceId })
}

/** Reads it back. */
export function decodeMetadata(text: string): Metadata {
  return JSON.parse(text) as Metadata
}

/** Reads what many messages in a row have in common only once. */
export function createMetadataReader(): (text: string) => Metadata {
  let last: { readonly text: string; readonly metadata: Metadata } | undefined
  return (text) => {
    if (last?.text === text) return last.metadata
    const metadata = decodeMetadata(text)
    // Headers are an object of their own, which the code of a handler could change.
    last = metadata.headers === undefined ? { text, metadata } : undefined
    return metadata
  }
}

/** Writes the trace context, which is kept apart because it outlives the rest of the metadata. */
export function encodeTrace({ trace }: MessageMetadata): string | null {
  return trace === undefined ? null : JSON.stringify(trace)
}

/** Reads it back. */
export function decodeTrace(text: string | null | undefined): TraceContext | undefined {
  return text == null ? undefined : (JSON.parse(text) as TraceContext)
}
