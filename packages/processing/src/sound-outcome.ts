import { failureCode, isFailure, type Failure } from '@litebus/core'
import type { DispatchOutcome } from './dispatcher.ts'

const kinds: ReadonlySet<unknown> = new Set<DispatchOutcome['kind']>([
  'succeeded',
  'failed',
  'rejected',
  'unavailable',
  'settled',
  'leaseLost',
  'persistFailed',
])

/**
 * What a dispatcher answered, made safe to store: untyped code can answer anything, and one outcome that the store
 * refuses would fail every message that is settled with it. An answer that is none is a mistake of the dispatcher.
 */
export function soundOutcome(answer: DispatchOutcome): DispatchOutcome {
  const given: unknown = answer
  if (typeof given !== 'object' || given === null || !kinds.has(answer.kind)) return invalid
  if (answer.kind !== 'failed' && answer.kind !== 'rejected') return answer
  return { ...answer, failure: soundFailure(answer.failure) }
}

function soundFailure(failure: Failure): Failure {
  if (isFailure(failure)) return { category: failure.category, code: failureCode(failure.code) }
  return { category: 'UNKNOWN', code: 'UNKNOWN_CATEGORY' }
}

const invalid: DispatchOutcome = {
  kind: 'rejected',
  failure: { category: 'CONFIGURATION', code: 'DISPATCH_RESULT_INVALID' },
}
