import {
  definedOptions,
  IngressAckPolicy,
  isListedHeader,
  isLiteBusError,
  type DeliveryPart,
  type LogFields,
} from '@litebus/core'

const parts: Readonly<Record<DeliveryPart, true>> = {
  size: true,
  identity: true,
  authorization: true,
  headers: true,
  contract: true,
  version: true,
  body: true,
  schema: true,
}
const maxExpectedLength = 120

/**
 * What was wrong with a delivery, as fields of a log line: `reason`, and where they are known `header`, `expected` and
 * `found`. Bounded, whoever built the error: callbacks of the application may throw errors of LiteBus too. Total.
 */
export function discardReason(error: unknown): LogFields {
  try {
    const failure = IngressAckPolicy.unwrapException(error)
    const fault = isLiteBusError(failure) ? failure.deliveryFault : undefined
    if (fault === undefined || !Object.hasOwn(parts, fault.part)) return {}
    const { part, header, expected, found } = fault
    return definedOptions<LogFields>({
      reason: part,
      header: typeof header === 'string' && isListedHeader(header) ? header : undefined,
      expected: typeof expected === 'string' ? expected.slice(0, maxExpectedLength) : undefined,
      found: typeof found === 'number' ? found : undefined,
    })
  } catch {
    return {}
  }
}
