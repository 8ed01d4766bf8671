import { publishFailures, within, type Clock, type Failure, type PublishOutcome } from '@litebus/core'
import { WriteFailures, type BrokerRefusal, type ProducedRecord } from './driver.ts'
import { ProducerUnavailable } from './producers.ts'

/** The messages of one ordering key in one call: once one of them is not confirmed, those behind it are not sent. */
export interface KeyChain {
  /** True once one that was handed on was not confirmed. */
  broken: boolean
  /** True once one was answered without being handed on: those before it still go, those behind it do not. */
  closed: boolean
}

/** A publish on its way, with the one who waits for it. */
export interface OutstandingPublish {
  /** The record. */
  readonly record: ProducedRecord
  /** Its bytes. */
  readonly bytes: number
  /** Its ordering key in this call; undefined without one. */
  readonly chain: KeyChain | undefined
  /** Where it stands; `done` when it has its outcome. */
  state: 'waiting' | 'sent' | 'done'
  /** Receives the outcome; later calls change nothing. */
  settle(outcome: PublishOutcome): void
}

/** Publishes to the partitions of one topic that have one leader, in order, one request at a time. */
export interface PublishLane {
  /** Sends it with the next request that has room. */
  add(publish: OutstandingPublish): void
  /** Resolves when nothing is waiting and nothing is under way. */
  idle(): Promise<void>
}

/** What a lane works with. */
export interface PublishLaneOptions {
  /** Writes one request. */
  readonly write: (records: readonly ProducedRecord[]) => Promise<void>
  /** The refusal in what a write rejected with. */
  readonly refusalOf: (error: unknown) => BrokerRefusal | undefined
  /** A write failed: what is known about the topic may be wrong. */
  readonly onFailure: (error: unknown) => void
  /** Most bytes for one partition in one request; one message always fits. */
  readonly maxPartitionBytes: number
  /** Most messages of one request. */
  readonly maxMessages: number
  /** How long a request may be under way before the lane goes on without it. */
  readonly writeTimeoutMs: number
  /** Time. */
  readonly clock: Clock
}

/** An empty lane. */
export function createPublishLane(options: PublishLaneOptions): PublishLane {
  let queue: OutstandingPublish[] = []
  const waiting = new Set<() => void>()
  let running = false

  const run = async (): Promise<void> => {
    // Publishes of one turn of the event loop travel together; while a request is under way the next one gathers.
    await Promise.resolve()
    for (let batch = takeBatch(); batch.length > 0; batch = takeBatch()) await send(batch)
    running = false
    for (const wake of [...waiting]) wake()
  }

  /** As many from the front as fit; what nobody waits for, and what its key holds back, is left out. */
  const takeBatch = (): readonly OutstandingPublish[] => {
    const batch: OutstandingPublish[] = []
    const bytes = new Map<number, number>()
    let taken = 0
    for (const publish of queue) {
      if (!isHeld(publish)) {
        const { partition } = publish.record
        const before = bytes.get(partition)
        const sum = (before ?? 0) + publish.bytes
        const isFull = before !== undefined && sum > options.maxPartitionBytes
        if (isFull || batch.length >= options.maxMessages) break
        bytes.set(partition, sum)
        batch.push(publish)
      }
      taken += 1
    }
    queue = queue.slice(taken)
    return batch
  }

  const send = async (batch: readonly OutstandingPublish[]): Promise<void> => {
    for (const publish of batch) publish.state = 'sent'
    try {
      const writing = options.write(batch.map(({ record }) => record))
      await within(options.clock, options.writeTimeoutMs, writing)
      for (const publish of batch) publish.settle({ status: 'confirmed' })
    } catch (error) {
      options.onFailure(error)
      if (error instanceof WriteFailures) await answerFailures(error, batch)
      else await answerFailure(error, batch)
    }
  }

  /** Each record has an answer of its own; of those that are refused, one may have taken the others with it. */
  const answerFailures = async (
    { failures }: WriteFailures,
    batch: readonly OutstandingPublish[],
  ): Promise<void> => {
    const refused: { readonly publish: OutstandingPublish; readonly refusal: BrokerRefusal }[] = []
    batch.forEach((publish, slot) => {
      const failure = failures[slot]
      const refusal = failure === undefined ? undefined : options.refusalOf(failure)
      if (failure === undefined) publish.settle({ status: 'confirmed' })
      else if (refusal === undefined) publish.settle(unanswered(failure))
      else refused.push({ publish, refusal })
    })
    const [first, ...others] = refused
    if (first !== undefined && others.length === 0) first.publish.settle(rejected(failureOf(first.refusal)))
    else await sendHalves(refused.map(({ publish }) => publish))
  }

  /** What is refused for one partition is not stored, none of it; for several, nobody says which of them it was. */
  const answerFailure = async (error: unknown, batch: readonly OutstandingPublish[]): Promise<void> => {
    const refusal = options.refusalOf(error)
    const [first] = batch
    const isCertain =
      refusal !== undefined && batch.every(({ record }) => record.partition === first?.record.partition)
    if (isCertain && batch.length > 1) {
      await sendHalves(batch)
      return
    }
    const outcome = isCertain ? rejected(failureOf(refusal)) : unanswered(error)
    for (const publish of batch) publish.settle(outcome)
  }

  /** One message can take all others of its request with it: it is looked for by halves. */
  const sendHalves = async (batch: readonly OutstandingPublish[]): Promise<void> => {
    const half = Math.ceil(batch.length / 2)
    for (const part of [batch.slice(0, half), batch.slice(half)]) {
      const left = part.filter((publish) => !isHeld(publish))
      if (left.length > 0) await send(left)
    }
  }

  return {
    add(publish) {
      queue.push(publish)
      if (running) return
      running = true
      void run()
    },
    idle: () =>
      new Promise((resolve) => {
        if (!running) {
          resolve()
          return
        }
        const wake = (): void => {
          waiting.delete(wake)
          resolve()
        }
        waiting.add(wake)
      }),
  }
}

/** True when it is not to be sent: nobody waits for it any more, or one of its key before it was not confirmed. */
function isHeld(publish: OutstandingPublish): boolean {
  if (publish.state !== 'done' && publish.chain?.broken === true)
    publish.settle({ status: 'unavailable', failure: publishFailures.orderHeld })
  return publish.state === 'done'
}

function rejected(failure: Failure): PublishOutcome {
  return { status: 'rejected', failure }
}

/** Without a producer nothing was sent; anything else may have arrived. */
function unanswered(error: unknown): PublishOutcome {
  const status = error instanceof ProducerUnavailable ? 'unavailable' : 'ambiguous'
  return { status, failure: publishFailures.connectionLost }
}

function failureOf({ protocolError }: BrokerRefusal): Failure {
  if (protocolError.endsWith('TOO_LARGE')) return publishFailures.messageTooLarge
  if (protocolError.endsWith('AUTHORIZATION_FAILED'))
    return { category: 'AUTHORIZATION', code: 'KAFKA_ACCESS_REFUSED' }
  return { category: 'VALIDATION', code: `KAFKA_${protocolError}` }
}
