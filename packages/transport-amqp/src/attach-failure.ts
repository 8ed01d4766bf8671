import { isLiteBusError } from '@litebus/core'
import { missingSource, safeText, unavailable } from './errors.ts'
import { readServerClose } from './server-close.ts'
import { explainRefusal } from './topology/apply-topology.ts'

/** Why a consumer could not subscribe. */
export interface AttachFailure {
  /** For the caller of `subscribe`, or for `onFailure`. */
  readonly error: Error
  /** Text without credentials. */
  readonly reason: string
  /** The source does not exist; it may come back. */
  readonly missing: boolean
  /** Trying again cannot help: the source differs from what was declared. */
  readonly final: boolean
}

/** Sorts what went wrong: missing, different, or only for now. */
export function attachFailure(source: string, error: unknown): AttachFailure {
  const close = readServerClose(error)
  const reason = safeText(error)
  if (close.queueMissing) return { error: missingSource(source), reason, missing: true, final: false }
  if (close.inequivalent)
    return { error: explainRefusal(source, close, error), reason, missing: false, final: true }
  if (isLiteBusError(error)) return { error, reason, missing: false, final: false }
  return {
    error: unavailable(`cannot consume from ${source}`, reason, error),
    reason,
    missing: false,
    final: false,
  }
}
