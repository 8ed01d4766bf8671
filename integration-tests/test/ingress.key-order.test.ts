import { expect, it } from '@jest/globals'
import { openIngress, type OpenIngressOptions } from '../ingress/open-ingress.ts'
import { eventually } from '../services/index.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import { contractHeaders, orderBody, type MessagePath } from '../transports/message-path.ts'

const ids = Array.from({ length: 10 }, (_, index) => `order-${String(index)}`)

/** Ingests ten messages of one key, the first of which fails once; answers the order in which they were written. */
async function ingestTen(
  path: MessagePath,
  options: OpenIngressOptions,
): Promise<{ readonly written: readonly string[]; readonly dead: number }> {
  const written: string[] = []
  let failures = 0
  const { ingress, target, transport } = await openIngress(path, {
    ...options,
    before: ([id = '']) => {
      if (id === ids[0] && failures++ === 0) throw new Error('this passes')
    },
    after: ([id = '']) => {
      written.push(id)
    },
  })
  const orderingKey = 'customer'
  const outcomes = await transport.publisher.publish(
    ids.map((id) => ({
      destination: target.destination,
      messageId: id,
      orderingKey,
      body: orderBody(id),
      headers: { ...contractHeaders, 'litebus-message-id': id, 'litebus-ordering-key': orderingKey },
    })),
  )
  expect(outcomes.filter(({ status }) => status !== 'confirmed')).toEqual([])
  await ingress.start()
  await eventually(
    () => {
      expect(ingress.counts()).toMatchObject({ acked: ids.length, inFlight: 0, discarded: 0 })
    },
    { expectation: 'all of them' },
  )
  const { deadLetterSource } = target
  return {
    written,
    dead: deadLetterSource === undefined ? 0 : await path.fixture.count(deadLetterSource),
  }
}

await describeTransports(
  'ingress and ten messages of one key, the first of which goes back',
  ({ profile, withPath }) => {
    it('accepts them in their order from an ordered source', () =>
      withPath(async (path) => {
        expect(await ingestTen(path, { source: 'ordered', allowLossyLimit: true })).toEqual({
          written: ids,
          dead: 0,
        })
      }))

    it('spends the deliveries of none of them on the way', () =>
      withPath(async (path) => {
        const source = profile.kinds.limited === undefined ? 'plain' : 'limited'
        const { written, dead } = await ingestTen(path, { source })
        expect([written.toSorted(), dead]).toEqual([ids, 0])
      }))
  },
)
