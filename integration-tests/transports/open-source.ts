import type { DestinationKind, ForeignMessage, TestDestination } from '@litebus/conformance'
import type { LogFields, Logger, Transport } from '@litebus/core'
import { contractHeaders, orderBody, type MessagePath } from './message-path.ts'

/** A source with a publisher without LiteBus, and a connection that knows it. */
export interface OpenSource {
  /** Where to publish to and consume from. */
  readonly target: TestDestination
  /** Connected after the source was created; closed with the path. */
  readonly transport: Transport
  /** Publishes as somebody without LiteBus. */
  readonly put: (message: Partial<ForeignMessage>) => Promise<void>
  /** Publishes a valid order under its id. */
  readonly order: (id: string) => Promise<void>
}

/** Opens a fresh source, or one that is there already. */
export async function openSource(
  { fixture, scope }: MessagePath,
  source: DestinationKind | TestDestination = 'plain',
): Promise<OpenSource> {
  const target = typeof source === 'string' ? await fixture.createDestination(source) : source
  const put: OpenSource['put'] = async (message) => {
    if (fixture.publishForeign === undefined) {
      throw new Error('expected a fixture that publishes without LiteBus')
    }
    await fixture.publishForeign(target, { body: orderBody('x'), headers: contractHeaders, ...message })
  }
  return {
    target,
    transport: scope.use(fixture.connect()),
    put,
    order: (id) => put({ messageId: id, body: orderBody(id) }),
  }
}

/** A logger that keeps what it is told. */
export interface KeptLog {
  readonly logger: Logger
  /** Log events in order. */
  readonly events: () => readonly number[]
  /** Fields of every line about an event. */
  readonly about: (event: number) => readonly LogFields[]
  /** Everything, as text. */
  readonly text: () => string
}

/** Starts with nothing logged. */
export function keepLog(): KeptLog {
  const lines: { readonly message: string; readonly fields: LogFields }[] = []
  const log = (message: string, fields: LogFields = {}): void => {
    lines.push({ message, fields })
  }
  return {
    logger: { debug: log, info: log, warn: log, error: log },
    events: () => lines.flatMap(({ fields: { eventId } }) => (typeof eventId === 'number' ? [eventId] : [])),
    about: (event) => lines.map(({ fields }) => fields).filter(({ eventId }) => eventId === event),
    text: () => JSON.stringify(lines),
  }
}
