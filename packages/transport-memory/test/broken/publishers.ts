import type { OutboundMessage, PublishOutcome } from '@litebus/core'
import { later, withPublish, wrapTransport, type BrokenTransport } from './wrap.ts'

const confirmed: PublishOutcome = { status: 'confirmed' }
const rejected: PublishOutcome = { status: 'rejected', failure: { category: 'UNKNOWN', code: 'BROKEN' } }
const ambiguous: PublishOutcome = { status: 'ambiguous', failure: { category: 'UNKNOWN', code: 'BROKEN' } }

/** Publishes changed messages. */
function changing(fault: string, change: (message: OutboundMessage) => OutboundMessage, noticedBy: string[]) {
  return {
    fault,
    breakIt: (base) =>
      withPublish(base, (batch, options) => base.publisher.publish(batch.map(change), options)),
    noticedBy,
  } satisfies BrokenTransport
}

function without(name: 'orderingKey' | 'delayMs', message: OutboundMessage): OutboundMessage {
  const { destination, messageId, body, headers, orderingKey, delayMs } = message
  const kept = name === 'orderingKey' ? { delayMs } : { orderingKey }
  return { destination, messageId, body, headers, ...definedOnly(kept) }
}

function definedOnly(values: {
  readonly orderingKey?: string | undefined
  readonly delayMs?: number | undefined
}): Partial<OutboundMessage> {
  return Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined))
}

/** Publishers that break one promise each. */
export const brokenPublishers: readonly BrokenTransport[] = [
  changing(
    'carries bodies as text',
    (message) => ({ ...message, body: new TextEncoder().encode(new TextDecoder().decode(message.body)) }),
    [
      'round trip: all 256 byte values arrive, in every order of two',
      'round trip: a body of one mebibyte, or of the declared maximum, arrives byte for byte',
    ],
  ),
  changing(
    'carries bodies as ASCII',
    (message) => ({ ...message, body: message.body.map((byte) => byte & 127) }),
    ['round trip: a webhook body with text of several scripts arrives byte for byte'],
  ),
  changing(
    'sends a placeholder for an empty body',
    (message) => (message.body.byteLength === 0 ? { ...message, body: Uint8Array.of(123, 125) } : message),
    ['round trip: an empty body arrives empty'],
  ),
  changing(
    'drops headers without a value',
    (message) => ({
      ...message,
      headers: Object.fromEntries(Object.entries(message.headers).filter(([, value]) => value !== '')),
    }),
    ['round trip: the id, the content type and every header arrive unchanged'],
  ),
  changing('forgets the ordering key', (message) => without('orderingKey', message), [
    'ordering: what follows a rejected message of its key is not sent, and other keys go on',
  ]),
  changing('ignores delays', (message) => without('delayMs', message), [
    'delay: a delayed publish is not delivered before its delay is over, and later ones may pass it',
    'delay: a delay that the destination does not have is rejected instead of ignored',
  ]),
  {
    fault: 'confirms before it sends',
    breakIt: (base) =>
      withPublish(base, (batch) => {
        void later(20).then(() => base.publisher.publish(batch))
        return Promise.resolve(batch.map(() => confirmed))
      }),
    noticedBy: [
      'round trip: a buffer may be reused once its publish is answered',
      'batch outcomes: an aborted signal makes unsent messages unavailable, and they never arrive',
    ],
  },
  {
    fault: 'answers a batch of nothing',
    breakIt: (base) =>
      withPublish(base, (batch, options) =>
        batch.length === 0 ? Promise.resolve([confirmed]) : base.publisher.publish(batch, options),
      ),
    noticedBy: ['batch outcomes: an empty batch has no outcomes'],
  },
  {
    fault: 'sends only the first thousand of a batch',
    breakIt: (base) =>
      withPublish(base, async (batch, options) => {
        const outcomes = await base.publisher.publish(batch.slice(0, 1000), options)
        return batch.map((_, index) => outcomes[index] ?? confirmed)
      }),
    noticedBy: [
      'batch outcomes: a batch larger than any window or request is confirmed and arrives once each',
    ],
  },
  {
    fault: 'answers in the order of the answers, not of the messages',
    breakIt: (base) =>
      withPublish(base, async (batch, options) =>
        (await base.publisher.publish(batch, options)).toReversed(),
      ),
    noticedBy: ['batch outcomes: outcomes stand in the order of the messages, each for its own slot'],
  },
  {
    fault: 'forgets a batch that comes while another is on its way',
    breakIt: (base) => {
      let busy = false
      return withPublish(base, async (batch, options) => {
        if (busy) return batch.map(() => confirmed)
        busy = true
        const outcomes = await base.publisher.publish(batch, options)
        busy = false
        return outcomes
      })
    },
    noticedBy: ['batch outcomes: concurrent batches are all answered, and everything confirmed arrives'],
  },
  {
    fault: 'calls what its caller gave up rejected',
    breakIt: (base) =>
      withPublish(base, async (batch, options) => {
        const outcomes = await base.publisher.publish(batch)
        return options?.signal?.aborted === true ? batch.map(() => rejected) : outcomes
      }),
    noticedBy: [
      'batch outcomes: a signal aborted on the way answers every slot at once, and what is confirmed arrives',
    ],
  },
  {
    fault: 'throws once it is closed',
    breakIt: (base) => {
      let closed = false
      return {
        ...withPublish(base, (batch, options) =>
          closed ? Promise.reject(new Error('closed')) : base.publisher.publish(batch, options),
        ),
        close: () => {
          closed = true
          return base.close()
        },
      }
    },
    noticedBy: ['batch outcomes: a closed transport answers unavailable and does not reject'],
  },
  {
    fault: 'believes the confirm of a returned message',
    breakIt: (base) =>
      withPublish(base, async (batch, options) =>
        (await base.publisher.publish(batch, options)).map((outcome) =>
          outcome.status === 'rejected' ? confirmed : outcome,
        ),
      ),
    noticedBy: [
      'unroutable: a message to a destination that does not exist is rejected',
      'unroutable: many unroutable messages among routable ones are told apart one by one',
      'unroutable: a routing key without a binding is rejected, and one with a binding arrives',
      'unroutable: two publishes under one id are answered each for itself',
    ],
  },
  {
    fault: 'loses its channel over a message that it should have refused',
    breakIt: (base) =>
      withPublish(base, async (batch, options) => {
        const outcomes = await base.publisher.publish(batch, options)
        return outcomes.some(({ status }) => status === 'rejected') ? batch.map(() => ambiguous) : outcomes
      }),
    noticedBy: [
      'oversize: a message over the declared size is rejected and the others of its batch are confirmed',
      'oversize: a header that cannot be carried is rejected and the others of its batch are confirmed',
    ],
  },
  {
    fault: 'confirms what it loses, one in a hundred',
    breakIt: (base) => {
      let sent = 0
      return withPublish(base, async (batch, options) => {
        const kept = batch.filter(() => (sent += 1) % 100 !== 0)
        const outcomes = await base.publisher.publish(kept, options)
        return batch.map((message) => outcomes[kept.indexOf(message)] ?? confirmed)
      })
    },
    noticedBy: [
      'reconnect: cuts while publishing leave every slot with an outcome and lose nothing that was confirmed',
      'stress: publishers and consumers under cuts lose nothing, and every delivery has one result',
    ],
  },
  {
    fault: 'swaps neighbours of a batch',
    breakIt: (base) =>
      withPublish(base, (batch, options) =>
        base.publisher.publish(
          batch.map((message, index) => batch[index ^ 1] ?? message),
          options,
        ),
      ),
    noticedBy: [
      'ordering: an ordered destination delivers in the order of the publishes',
      'ordering: a reconnect repeats a message at most, and never brings an earlier one after a later one',
    ],
  },
  {
    fault: 'declares what it cannot do',
    breakIt: (base) =>
      wrapTransport(base, {
        capabilitiesOf: (destination) => ({ ...base.capabilitiesOf(destination), sessions: true }),
      }),
    noticedBy: ['declaration: every kind of destination declares what the suite was bound with'],
  },
  {
    fault: 'declares limits without the ability',
    breakIt: (base) =>
      wrapTransport(base, {
        capabilitiesOf: (destination) => ({ ...base.capabilitiesOf(destination), maxBatchBytes: 1 }),
      }),
    noticedBy: ['declaration: declared limits agree with the declared abilities'],
  },
]
