import { describe, expect, it } from '@jest/globals'
import type { OutboundMessage, PublishOutcome } from '@litebus/core'
import { createPublishBatcher } from '../src/publish-batcher.ts'

const message = (messageId: string): OutboundMessage => ({
  destination: 'orders',
  messageId,
  body: new Uint8Array(),
  headers: {},
})

/** Publishes three messages over a publisher without types, which answers as given. */
function statusesOf(answer: () => Promise<unknown>, aborted = false): Promise<Record<string, string>> {
  const statuses: Record<string, string> = {}
  return new Promise((resolve) => {
    const batcher = createPublishBatcher<{ readonly message: OutboundMessage }>({
      publisher: { publish: answer as () => Promise<readonly PublishOutcome[]> },
      maxBatch: 10,
      deadline: () => ({
        signal: aborted ? AbortSignal.abort() : new AbortController().signal,
        cancel: () => undefined,
      }),
      answer: ({ message: { messageId } }, { status }) => {
        statuses[messageId] = status
        if (Object.keys(statuses).length === 3) resolve(statuses)
      },
    })
    for (const id of ['a', 'b', 'c']) batcher.publish({ message: message(id) })
  })
}

describe('a batch of publishes', () => {
  it.each([
    { name: 'an outcome without its failure', outcome: { status: 'unavailable' } },
    { name: 'an unknown outcome', outcome: { status: 'perhaps', failure: { code: 'X' } } },
    { name: 'nothing', outcome: undefined },
    { name: 'null', outcome: null },
  ])('takes $name for ambiguous, and the outcomes of the others as they are', async ({ outcome }) => {
    const rejected = { status: 'rejected', failure: { category: 'UNKNOWN', code: 'NO' } }
    const answers = (): Promise<unknown> => Promise.resolve([outcome, { status: 'confirmed' }, rejected])
    expect(await statusesOf(answers)).toEqual({ a: 'ambiguous', b: 'confirmed', c: 'rejected' })
    expect(await statusesOf(answers, true)).toEqual({ a: 'ambiguous', b: 'confirmed', c: 'rejected' })
  })

  it.each([
    { name: 'rejects', answer: () => Promise.reject(new Error('broken')) },
    { name: 'answers no list', answer: () => Promise.resolve(undefined) },
  ])('is ambiguous as a whole when the publisher $name', async ({ answer }) => {
    expect(await statusesOf(answer)).toEqual({ a: 'ambiguous', b: 'ambiguous', c: 'ambiguous' })
  })
})
