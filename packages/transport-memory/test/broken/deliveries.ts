import type { Delivery } from '@litebus/core'
import { later, withDelivery, withSubscribe, type BrokenTransport } from './wrap.ts'

const kinds = ['accept', 'returnToQueue', 'discard'] as const
const afterAnySettlement = kinds.flatMap((first) =>
  kinds.map((second) => `settle once: after ${first}, ${second} is answered revoked and changes nothing`),
)

/** Deliveries that break one promise each. */
export const brokenDeliveries: readonly BrokenTransport[] = [
  {
    fault: 'never says that a delivery came before',
    breakIt: (base) => withDelivery(base, () => ({ redelivered: false })),
    noticedBy: ['redelivery: a first delivery is not marked redelivered, a second one is, under the same id'],
  },
  {
    fault: 'counts every delivery as the first',
    breakIt: (base) => withDelivery(base, () => ({ deliveryCount: 1 })),
    noticedBy: ['redelivery: the delivery count is 1 at first and grows by one with each delivery'],
  },
  {
    fault: 'returns at once whatever the delay',
    breakIt: (base) => withDelivery(base, (delivery) => ({ returnToQueue: () => delivery.returnToQueue() })),
    noticedBy: ['redelivery: a return with a delay is not delivered before the delay is over'],
  },
  {
    fault: 'says settled and sends nothing',
    breakIt: (base) => withDelivery(base, () => ({ accept: () => Promise.resolve('settled') })),
    noticedBy: ['settle once: an accepted message is gone, also after a reconnect'],
  },
  {
    fault: 'answers settled as often as it is asked',
    breakIt: (base) =>
      withDelivery(base, (delivery) => ({
        accept: () => delivery.accept().then(() => 'settled'),
        returnToQueue: (options) => delivery.returnToQueue(options).then(() => 'settled'),
        discard: (options) => delivery.discard(options).then(() => 'settled'),
      })),
    noticedBy: [
      ...afterAnySettlement,
      'settle once: of two settlements at the same time exactly one has the authority',
      'stale settle: a delivery of a lost connection is revoked, comes again and is settled there',
      'stale settle: a delivery that was not settled when its subscription stopped is revoked',
      'shutdown with work in flight: what is not settled within the budget is reported, revoked and delivered again',
      'shutdown with work in flight: closing the transport stops its subscriptions, twice without harm',
    ],
  },
  {
    fault: 'holds a return without taking the authority, and beyond the connection',
    breakIt: (base) =>
      withDelivery(base, (delivery) => ({
        returnToQueue: async ({ delayMs = 0, ...options } = {}) => {
          await later(delayMs)
          return delivery.returnToQueue(options)
        },
      })),
    noticedBy: [
      'settle once: a return that is being held already has the authority',
      'stale settle: a return that is being held when the connection is lost is answered revoked',
    ],
  },
  {
    fault: 'accepts what it should give back',
    breakIt: (base) => withDelivery(base, (delivery) => ({ returnToQueue: () => delivery.accept() })),
    noticedBy: [
      'shutdown with work in flight: a return that is being held does not hold up the stop, and its message is not lost',
    ],
  },
  {
    fault: 'gives back what it should discard',
    breakIt: (base) => withDelivery(base, (delivery) => ({ discard: () => delivery.returnToQueue() })),
    noticedBy: ['settle once: a discarded message is gone from its source'],
  },
  {
    fault: 'accepts what it should discard',
    breakIt: (base) => withDelivery(base, (delivery) => ({ discard: () => delivery.accept() })),
    noticedBy: ['settle once: a discarded message is found in the dead-letter place, with its body and id'],
  },
  {
    fault: 'discards without an answer and without making room',
    breakIt: (base) => withDelivery(base, () => ({ discard: () => new Promise(() => undefined) })),
    noticedBy: ['in-flight cap: each kind of settlement makes room for the next delivery'],
  },
  {
    fault: 'puts what comes back at the end',
    breakIt: (base) =>
      withDelivery(base, (delivery) => ({
        returnToQueue: async () => {
          const { destination, messageId = '', body } = delivery.message
          await base.publisher.publish([{ destination, messageId, body, headers: {} }])
          return delivery.accept()
        },
      })),
    noticedBy: [
      'ordering: a message that was given back comes before those behind it',
      'ordering: a message that was given back with a delay holds up those behind it',
    ],
  },
  {
    fault: 'accepts everything that came before as well',
    breakIt: (base) =>
      withSubscribe(base, (options, onDelivery) => {
        const earlier: Delivery[] = []
        return base.consumer.subscribe(options, (delivery) => {
          earlier.push(delivery)
          const upTo = earlier.length
          onDelivery({
            ...delivery,
            accept: async () => {
              for (const one of earlier.slice(0, upTo - 1)) await one.accept()
              return delivery.accept()
            },
          })
        })
      }),
    noticedBy: ['settle once: accepting later deliveries takes no earlier one with it'],
  },
  {
    fault: 'forgets how often a message was tried',
    breakIt: (base) =>
      withDelivery(base, (delivery) => ({
        returnToQueue: ({ delayMs = 0 } = {}) => delivery.returnToQueue({ delayMs }),
      })),
    noticedBy: ['redelivery: attempt and first failure travel with a return, and outlive the consumer'],
  },
  {
    fault: 'swallows what a receiver throws, and the delivery with it',
    breakIt: (base) =>
      withSubscribe(base, (options, onDelivery) =>
        base.consumer.subscribe(options, (delivery) => {
          try {
            onDelivery(delivery)
          } catch {
            // The fault: nobody settles this delivery any more.
          }
        }),
      ),
    noticedBy: ['in-flight cap: a receiver that throws costs neither the message nor the subscription'],
  },
  {
    fault: 'reads headers as text only',
    breakIt: (base) =>
      withDelivery(base, ({ message }) => ({
        message: {
          ...message,
          headers: Object.fromEntries(
            Object.entries(message.headers).map(([name, value]) => [
              name,
              typeof value === 'string' ? value : JSON.stringify(value),
            ]),
          ),
        },
      })),
    noticedBy: ['foreign publisher: headers of every type of the broker arrive with their values'],
  },
  {
    fault: 'invents an id where there is none',
    breakIt: (base) => withDelivery(base, ({ deliveryId }) => ({ deliveryId: deliveryId ?? 'invented' })),
    noticedBy: ['foreign publisher: a message without id and headers is delivered without a delivery id'],
  },
]
