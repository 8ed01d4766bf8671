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

function outcomeOf(
  messageId: string,
  status: Exclude<PublishOutcome['status'], 'confirmed'>,
): PublishOutcome {
  return messageId === '1' ? { status, failure: { category: 'UNKNOWN', code: 'X' } } : { status: 'confirmed' }
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
      ({ messageId }, answer) => {
        sent.push(messageId)
        answers.set(messageId, answer)
      },
    )
    expect(sent).toEqual(['a1', 'x', 'b1', 'a1 elsewhere'])
    for (const id of [...sent]) answers.get(id)?.({ status: 'confirmed' })
    expect(sent.at(-1)).toBe('a2')
    answers.get('a2')?.({ status: 'confirmed' })
    expect((await publishing).map(({ status }) => status)).toEqual(Array(5).fill('confirmed'))
  })

  it.each(
    (['rejected', 'ambiguous', 'unavailable'] as const).flatMap((status) => [
      { status, answered: 'at once' },
      { status, answered: 'later' },
    ]),
  )(
    'holds everything of a key behind a message that is $status, answered $answered',
    async ({ status, answered }) => {
      const sent: string[] = []
      const outcomes = await publishInKeyOrder(
        [message('1', 'a'), message('2', 'a'), message('3', 'a'), message('4', 'b')],
        ({ messageId }, answer) => {
          sent.push(messageId)
          if (answered === 'later') setImmediate(answer, outcomeOf(messageId, status))
          else answer(outcomeOf(messageId, status))
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

  it('answers an empty batch', async () => {
    await expect(publishInKeyOrder([], () => undefined)).resolves.toEqual([])
  })
})
