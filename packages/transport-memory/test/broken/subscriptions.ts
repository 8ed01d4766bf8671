import type { Subscription, SubscriptionState, Transport } from '@litebus/core'
import { later, withSubscribe, withSubscription, wrapTransport, type BrokenTransport } from './wrap.ts'

/** Ends the subscription without a word as soon as it has to recover. */
function goneAfterTrouble(base: Transport): Transport {
  return withSubscribe(base, async (options, onDelivery) => {
    const subscription = await base.consumer.subscribe(
      {
        ...options,
        onStateChange: (state) => {
          options.onStateChange?.(state)
          if (state === 'recovering') queueMicrotask(() => void subscription.stop({ budgetMs: 0 }))
        },
      },
      onDelivery,
    )
    return subscription
  })
}

const idle = (state: SubscriptionState): Subscription => ({
  state,
  pause: () => Promise.resolve(),
  resume: () => Promise.resolve(),
  stop: () => Promise.resolve({ unsettled: 0 }),
})

/** Subscriptions and transports that break one promise each. */
export const brokenSubscriptions: readonly BrokenTransport[] = [
  {
    fault: 'does not pause',
    breakIt: (base) => withSubscription(base, () => ({ state: 'paused', pause: () => Promise.resolve() })),
    noticedBy: [
      'pause and resume: nothing is handed out while paused, and everything after',
      'pause and resume: what was pushed ahead before the pause is handed out after it, and not during it',
      'pause and resume: a pause outlives a reconnect',
    ],
  },
  {
    fault: 'resumes only once',
    breakIt: (base) =>
      withSubscription(base, (subscription) => {
        let resumed = 0
        return { resume: () => ((resumed += 1) > 1 ? Promise.resolve() : subscription.resume()) }
      }),
    noticedBy: ['pause and resume: pausing and resuming many times over loses and repeats nothing'],
  },
  {
    fault: 'hands out ten times what it may',
    breakIt: (base) =>
      withSubscribe(base, ({ maxInFlight, ...options }, onDelivery) =>
        base.consumer.subscribe({ ...options, maxInFlight: maxInFlight * 10 }, onDelivery),
      ),
    noticedBy: [
      'in-flight cap: no more than maxInFlight are handed out without settlement, whatever the prefetch',
    ],
  },
  {
    fault: 'takes any number for maxInFlight',
    breakIt: (base) =>
      withSubscribe(base, (options, onDelivery) =>
        base.consumer.subscribe({ ...options, maxInFlight: Math.max(1, options.maxInFlight) }, onDelivery),
      ),
    noticedBy: ['in-flight cap: a subscription without room for a single delivery is refused'],
  },
  {
    fault: 'closes before the work is settled',
    breakIt: (base) =>
      withSubscription(base, (subscription) => ({ stop: () => subscription.stop({ budgetMs: 0 }) })),
    noticedBy: [
      'shutdown with work in flight: what is settled within the budget is settled, and nothing is handed out any more',
      'shutdown with work in flight: what was never handed out reaches another consumer once what was is settled, and not before',
    ],
  },
  {
    fault: 'keeps what it has until the budget is over',
    breakIt: (base) =>
      withSubscription(base, (subscription) => ({
        stop: async ({ budgetMs }) => {
          await later(budgetMs)
          return subscription.stop({ budgetMs: 0 })
        },
      })),
    noticedBy: [
      'shutdown with work in flight: what was pushed ahead and never handed out goes back and reaches another consumer',
    ],
  },
  {
    fault: 'keeps the time that it was given first',
    breakIt: (base) =>
      withSubscription(base, (subscription) => {
        let first: ReturnType<Subscription['stop']> | undefined
        // In the end it stops all the same, so that the run of the tests does.
        return {
          stop: ({ budgetMs }) => (first ??= subscription.stop({ budgetMs: Math.min(budgetMs, 25_000) })),
        }
      }),
    noticedBy: [
      'shutdown with work in flight: stopping again with less time brings the end forward, and with more does not put it off',
    ],
  },
  {
    fault: 'reports another number each time',
    breakIt: (base) =>
      withSubscription(base, (subscription) => {
        let asked = 0
        return {
          stop: async (options) => {
            await subscription.stop(options)
            return { unsettled: (asked += 1) }
          },
        }
      }),
    noticedBy: ['shutdown with work in flight: stopping twice gives the same report'],
  },
  {
    fault: 'is silently gone after trouble',
    breakIt: goneAfterTrouble,
    noticedBy: [
      'reconnect: an idle subscription consumes again after each of three cuts, and says so',
      'reconnect: a cut while deliveries are held brings them again, and nothing that was settled',
      'cancelled consumer: a consumer cancelled by the broker subscribes again and gets what comes',
    ],
  },
  {
    fault: 'fails without telling anybody',
    breakIt: (base) =>
      withSubscribe(base, (options, onDelivery) =>
        base.consumer.subscribe({ ...options, onFailure: () => undefined }, onDelivery),
      ),
    noticedBy: ['cancelled consumer: a consumer whose source is deleted fails aloud, with the reason'],
  },
  {
    fault: 'subscribes to nothing',
    breakIt: (base) =>
      withSubscribe(base, (options, onDelivery) =>
        base.consumer.subscribe(options, onDelivery).catch(() => idle('consuming')),
      ),
    noticedBy: [
      'missing and closed: subscribing to a source that does not exist rejects, and the transport goes on',
    ],
  },
  {
    fault: 'is always well',
    breakIt: (base) => wrapTransport(base, { probe: () => Promise.resolve() }),
    noticedBy: [
      'missing and closed: probing a destination that does not exist rejects, and the transport goes on',
    ],
  },
  {
    fault: 'is never well',
    breakIt: (base) => wrapTransport(base, { probe: () => Promise.reject(new Error('not well')) }),
    noticedBy: ['reconnect: a probe fails or succeeds with the broker, and succeeds again after a cut'],
  },
  {
    fault: 'does not close',
    breakIt: (base) => wrapTransport(base, { close: () => Promise.resolve() }),
    noticedBy: ['missing and closed: a closed transport refuses to subscribe and to be probed'],
  },
]
