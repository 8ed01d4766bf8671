import {
  classifyFailure,
  executionBudgetExceeded,
  failureOfResult,
  sleep,
  type Failure,
  type HandlerContext,
  type HandlerRegistry,
  type HandlerResult,
  type InboundMessage,
  type WireMetadata,
} from '@litebus/core'
import type { ResolvedConsumerOptions } from './consumer-options.ts'

/**
 * What a handler made of a message.
 *
 * - `duplicate`: it did not run, the work was done before.
 * - `cancelled`: it ended early because of a stop, or did not run at all, which is not a failure.
 * - `heldTooLong`: it did not run, and its delivery may not wait any longer for its turn.
 * - `undecided`: its transaction was taken back, or nobody knows whether it was committed.
 */
export type HandlerOutcome =
  | { readonly kind: 'succeeded' | 'duplicate' | 'cancelled' | 'heldTooLong' | 'undecided' }
  | { readonly kind: 'failed'; readonly failure: Failure; readonly retryAfterMs?: number }

/** Runs work in the transaction that completes it. */
export type InTransaction = (
  work: (transaction: unknown) => Promise<HandlerOutcome>,
  signal: AbortSignal,
) => Promise<HandlerOutcome>

/** One run of a handler. */
export interface HandlerRun {
  /** The message as delivered. */
  readonly message: InboundMessage
  /** What its headers say. */
  readonly metadata: WireMetadata
  /** Its id. */
  readonly messageId: string
  /** 1-based attempt. */
  readonly attempt: number
  /** Aborts as soon as a stop is asked for. */
  readonly stopping: AbortSignal
  /** Aborts when the grace of a stop is over. */
  readonly forcing: AbortSignal
  /** For handlers that are transactional. */
  readonly inTransaction?: InTransaction
}

const timedOut: HandlerOutcome = {
  kind: 'failed',
  failure: executionBudgetExceeded,
}

/** Decodes the body and runs the handler within its budget. Never rejects: whatever is thrown is a failure. */
export async function runHandler(
  run: HandlerRun,
  handlers: HandlerRegistry<unknown>,
  { clock, executionBudgetMs, classifier }: ResolvedConsumerOptions,
): Promise<HandlerOutcome> {
  const { stopping, forcing } = run
  const controller = new AbortController()
  const abort = (): void => {
    controller.abort()
  }
  if (forcing.aborted) abort()
  forcing.addEventListener('abort', abort, { once: true })
  const waiting = new AbortController()
  const late = sleep(clock, executionBudgetMs, waiting.signal).then(() => timedOut)
  const handled = handle(run, handlers, controller.signal).catch((error: unknown): HandlerOutcome => ({
    kind: 'failed',
    failure: classifyFailure(error, classifier),
  }))
  const outcome = await Promise.race([handled, late])
  waiting.abort()
  forcing.removeEventListener('abort', abort)
  if (outcome === timedOut) abort()
  if (outcome.kind !== 'failed' || !stopping.aborted) return outcome
  return forcing.aborted || outcome.failure.category === 'CANCELLED' ? { kind: 'cancelled' } : outcome
}

async function handle(
  { message, metadata, messageId, attempt, stopping, inTransaction }: HandlerRun,
  handlers: HandlerRegistry<unknown>,
  signal: AbortSignal,
): Promise<HandlerOutcome> {
  const { contractName, contractVersion } = metadata
  const decoded = await handlers.contracts.decode(contractName, contractVersion, message.body)
  const handler = handlers.find(decoded.contract.name, decoded.contract.version)
  const { tenantId, orderingKey, correlationId, causationId, trace, headers } = metadata
  const context: HandlerContext = {
    messageId,
    handler: handler.name,
    sent: new Map(),
    contract: { name: contractName, version: contractVersion },
    attempt,
    signal,
    stopping,
    headers,
    ...(tenantId === undefined ? {} : { tenantId }),
    ...(orderingKey === undefined ? {} : { orderingKey }),
    ...(correlationId === undefined ? {} : { correlationId }),
    ...(causationId === undefined ? {} : { causationId }),
    ...(trace === undefined ? {} : { trace }),
    ...(message.timestamp === undefined ? {} : { createdAt: message.timestamp }),
  }
  if (handler.transactional !== true || inTransaction === undefined) {
    return outcomeOf(await handler.handle(decoded.message, context))
  }
  const work = async (transaction: unknown): Promise<HandlerOutcome> =>
    outcomeOf(await handler.handle(decoded.message, { ...context, transaction }))
  return inTransaction(work, signal)
}

function outcomeOf(result: HandlerResult): HandlerOutcome {
  const failed = failureOfResult(result)
  return failed === undefined ? { kind: 'succeeded' } : { kind: 'failed', ...failed }
}
