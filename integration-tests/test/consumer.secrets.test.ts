import { expect, it } from '@jest/globals'
import type { ForeignMessage } from '@litebus/conformance'
import {
  InboxDispatchError,
  InvocationError,
  PayloadError,
  reject,
  retry,
  StoreUnavailableError,
  type HandlerReturn,
  type InboundMessage,
} from '@litebus/core'
import { expectTerminals } from '../consumer/expect-terminals.ts'
import { openConsumer } from '../consumer/open-consumer.ts'
import { openIngress } from '../ingress/open-ingress.ts'
import { eventually } from '../services/index.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import { keepTelemetry } from '../transports/keep-telemetry.ts'
import { contractHeaders, orderBody } from '../transports/message-path.ts'
import { readAll, textHeaders } from '../transports/read-all.ts'

const secret = 'hunter2'
const text = `password=${secret}`

/** What user code may throw or return, each with a secret somewhere in it. */
const plants: Readonly<Record<string, () => HandlerReturn>> = {
  text: () => {
    throw new Error(text)
  },
  cause: () => {
    throw new Error('x', { cause: new Error(text) })
  },
  name: () => {
    throw Object.assign(new Error('x'), { name: secret })
  },
  code: () => {
    throw Object.assign(new Error('x'), { code: secret })
  },
  fields: () => {
    throw Object.assign(new TypeError('x'), { token: secret, response: { body: text } })
  },
  aggregate: () => {
    throw new AggregateError([new Error(text), new Error(text)], text)
  },
  ours: () => {
    throw new PayloadError(`expected something else, found ${secret}`)
  },
  wrapped: () => {
    throw new InvocationError(text, { cause: new InboxDispatchError(text) })
  },
  thrown: () => {
    // eslint-disable-next-line @typescript-eslint/only-throw-error -- what users throw is not ours to choose
    throw text
  },
  result: () => ({ ...reject({ code: 'NO' }), detail: text }),
  retried: () => ({ ...retry({ code: 'LATER' }), detail: text }),
}

/** Headers that carry credentials, as applications send them. */
const secretHeaders: Readonly<Record<string, string>> = {
  Authorization: `Bearer ${secret}`,
  cookie: `session=${secret}`,
  'x-api-key': secret,
  'db-password': secret,
}

/** Deliveries that cannot be read, and would be quoted by a careless message. */
const unreadable: readonly Partial<ForeignMessage>[] = [
  { messageId: 'json', body: Buffer.from(`{"id":"x","password":"${secret}`) },
  { messageId: 'schema', body: Buffer.from(`{"id":7,"password":"${secret}"}`) },
  { messageId: 'version', headers: { ...contractHeaders, 'litebus-contract-version': secret } },
  { messageId: 'attempts', headers: { ...contractHeaders, 'msg.retry-attempt': secret } },
  { messageId: 'first', headers: { ...contractHeaders, 'msg.first-failure-at': secret } },
  { messageId: 'long', headers: { ...contractHeaders, note: secret.repeat(2000) } },
]

/** The first place of the secret, with what stands around it. */
function placeOf(told: string): string | undefined {
  return /.{0,60}hunter2.{0,20}/i.exec(told)?.[0]
}

/** Headers of copies; those of LiteBus come back as they were received, so that they can be told apart. */
function headersOf(letters: readonly InboundMessage[]): string {
  return JSON.stringify(
    letters.map((letter) => ({ ...textHeaders(letter), 'litebus-contract-version': undefined })),
  )
}

function withSecretHeaders(message: Partial<ForeignMessage>): Partial<ForeignMessage> {
  return { ...message, headers: { ...contractHeaders, ...message.headers, ...secretHeaders } }
}

await describeTransports('a secret in errors, headers and bodies', ({ withPath }) => {
  it('is in no dead letter, log line or attribute of a consumer', () =>
    withPath(async (path) => {
      const kept = keepTelemetry()
      const subject = await openConsumer(path, {
        handle: ({ id }) => plants[id]?.(),
        retry: { mode: 'none', maxAttempts: 1 },
        maxMessageBytes: 5000,
        telemetry: kept.telemetry,
      })
      for (const id of Object.keys(plants)) {
        await subject.put(withSecretHeaders({ messageId: id, body: orderBody(id) }))
      }
      for (const message of unreadable) await subject.put(withSecretHeaders(message))
      await subject.put(withSecretHeaders({ messageId: 'size', body: Buffer.from(secret.repeat(1000)) }))
      const count = Object.keys(plants).length + unreadable.length + 1
      await subject.consumer.start()
      await expectTerminals(path, subject, { deliveries: count, acked_dead_letter: count })
      const letters = await readAll(path, subject.dead, count)
      expect(letters).toHaveLength(count)
      const told = headersOf(letters) + subject.text() + kept.text()
      expect(placeOf(told)).toBeUndefined()
      expect(kept.text()).toContain('litebus.consumer.settlements')
    }))

  it('is in no dead letter, log line or attribute of an ingress', () =>
    withPath(async (path) => {
      const kept = keepTelemetry()
      const dead = await path.fixture.createDestination('plain')
      let outages = 1
      const subject = await openIngress(path, {
        onDiscard: { deadLetter: dead.destination },
        telemetry: kept.telemetry,
        before: async ([id = '']) => {
          if (outages-- > 0) throw new StoreUnavailableError(text)
          if (id === 'requeued' && outages > -20) throw new Error(text)
          if (id in plants) throw new InboxDispatchError(text, { cause: await failureOf(plants[id]) })
        },
      })
      for (const id of Object.keys(plants)) {
        await subject.put(withSecretHeaders({ messageId: id, body: orderBody(id) }))
      }
      const refused = unreadable.filter(({ messageId }) => messageId !== 'attempts' && messageId !== 'first')
      for (const message of refused) await subject.put(withSecretHeaders(message))
      await subject.put({ messageId: 'requeued', body: orderBody('requeued') })
      const count = Object.keys(plants).length + refused.length
      await subject.ingress.start()
      await eventually(
        async () => {
          expect(subject.ingress.counts()).toMatchObject({ acked_dead_letter: count, acked: 1, inFlight: 0 })
          expect(await path.fixture.count(subject.target.source)).toBe(0)
        },
        { expectation: `${String(count)} discards` },
      )
      const letters = await readAll(path, dead, count)
      expect(letters).toHaveLength(count)
      const told = headersOf(letters) + subject.log() + kept.text()
      expect(placeOf(told)).toBeUndefined()
      expect(subject.events()).toContain(3005)
    }))
})

/** What a plant throws. */
async function failureOf(plant: (() => HandlerReturn) | undefined): Promise<unknown> {
  try {
    return await plant?.()
  } catch (error) {
    return error
  }
}
