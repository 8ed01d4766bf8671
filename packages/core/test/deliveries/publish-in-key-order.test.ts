import { describe, expect, it } from '@jest/globals'
import { publishInKeyOrder, type OutboundMessage, type PublishOutcome } from '@litebus/core'

function message(messageId: string, orderingKey?: string, destination = 'q'): OutboundMessage {
  return {
    destination,
    messageId,
    body: new Uint8Array(),
    headers: {},
    ...(orderingKey === undefined ? {} : { orderingKey }),
  }
}

describe('publishing in key order', () => {
  it('has at most one unconfirmed message of a key, and does not wait for anything else', async () => {
    const sent: string[] = []
    const answers = new Map<string, (outcome: PublishOutcome) => void>()
    const publishing = publishInKeyOrder(
      [
        message('a1', 'a'),
        message('x'),
        message('a2', 'a'),
        message('b1', 'b'),
        message('a1 elsewhere', 'a', 'p'),
      ],
      ({ messageId }) => {
        sent.push(messageId)
        return new Promise((resolve) => answers.set(messageId, resolve))
      },
    )
    await Promise.resolve()
    expect(sent).toEqual(['a1', 'x', 'b1', 'a1 elsewhere'])
    for (const id of [...sent]) answers.get(id)?.({ status: 'confirmed' })
    await new Promise((resolve) => setImmediate(resolve))
    expect(sent.at(-1)).toBe('a2')
    answers.get('a2')?.({ status: 'confirmed' })
    expect((await publishing).map(({ status }) => status)).toEqual(Array(5).fill('confirmed'))
  })

  it.each(['rejected', 'ambiguous', 'unavailable'] as const)(
    'holds everything of a key behind a message that is %s',
    async (status) => {
      const sent: string[] = []
      const outcomes = await publishInKeyOrder(
        [message('1', 'a'), message('2', 'a'), message('3', 'a'), message('4', 'b')],
        ({ messageId }) => {
          sent.push(messageId)
          return Promise.resolve(
            messageId === '1'
              ? { status, failure: { category: 'UNKNOWN', code: 'X' } }
              : { status: 'confirmed' },
          )
        },
      )
      expect(sent).toEqual(['1', '4'])
      expect(outcomes).toMatchObject([
        { status },
        { status: 'unavailable', failure: { code: 'ORDER_HELD' } },
        { status: 'unavailable', failure: { code: 'ORDER_HELD' } },
        { status: 'confirmed' },
      ])
    },
  )
})
