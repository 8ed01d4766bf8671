import { TransportUnavailableError } from '@litebus/core'
import type { Intake } from './intake.ts'

/**
 * Resolves while deliveries come, or an operator wants that none do.
 *
 * @throws TransportUnavailableError when intake stands still for another reason, or there is no subscription.
 */
export function probeIntake(
  { state, reasons }: Pick<Intake, 'state' | 'reasons'>,
  source: string,
): Promise<void> {
  const unwanted = reasons.filter((reason) => reason !== 'operator')
  const isFine = state === 'consuming' || (state === 'paused' && unwanted.length === 0)
  if (isFine) return Promise.resolve()
  const why = state === 'paused' ? `paused by ${unwanted.join(', ')}` : state
  return Promise.reject(
    new TransportUnavailableError(`expected deliveries from ${source} to be taken, found intake ${why}`),
  )
}
