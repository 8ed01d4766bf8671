import { TopologyMismatchError, TransportClosedError, TransportUnavailableError } from '@litebus/core'

/** The queue to consume from does not exist. */
export function missingQueue(source: string): TopologyMismatchError {
  return new TopologyMismatchError(
    `expected a queue named ${source} at the memory broker, found none; declare it with declareQueue()`,
  )
}

/** The broker is set unreachable. */
export function unreachable(): TransportUnavailableError {
  return new TransportUnavailableError('the memory broker cannot be reached; see faults.setReachable()')
}

/** The transport was closed. */
export function closedTransport(): TransportClosedError {
  return new TransportClosedError('the memory transport was closed by its owner')
}
