import type { Telemetry } from '@litebus/core'
import {
  createDestinationBreaker,
  type DestinationBreaker,
  type DestinationBreakerOptions,
} from './destination-breaker.ts'

/** The breakers of all destinations of one transport. */
export interface DestinationBreakers {
  /** The breaker of a destination. */
  of(destination: string): DestinationBreaker
  /** Ends their gauges. */
  close(): void
}

/** What breakers work with. */
export interface DestinationBreakersOptions extends Omit<DestinationBreakerOptions, 'probe' | 'onChange'> {
  /** `messaging.system` of the transport. */
  readonly system: string
  /** Resolves when the destination can be used. */
  readonly probe: (destination: string) => Promise<void>
  /** Called when the breaker of a destination breaks and when it closes. */
  readonly onChange: (destination: string, open: boolean) => void
  /** Where the gauges go. */
  readonly telemetry: Telemetry
}

/** Names of brokers in telemetry where they are not those of `messaging.system`. */
const brokerNames: Readonly<Record<string, string>> = {
  rabbitmq: 'amqp',
  aws_sqs: 'sqs',
  servicebus: 'azure_service_bus',
}

/** Starts without destinations. */
export function createDestinationBreakers(options: DestinationBreakersOptions): DestinationBreakers {
  const { system, telemetry } = options
  const breakers = new Map<string, DestinationBreaker>()
  const attributes = { 'litebus.transport.broker': brokerNames[system] ?? system }
  const gauge = (name: string, valueOf: (breaker: DestinationBreaker) => number): (() => void) =>
    telemetry.observe(
      { scope: 'LiteBus.Transport', name: `litebus.transport.circuit_breaker.${name}` },
      () => [...breakers.values()].reduce((sum, breaker) => sum + valueOf(breaker), 0),
      attributes,
    )
  const gauges = [
    gauge('open', ({ open }) => Number(open)),
    gauge('failure_count', ({ failureCount }) => failureCount),
  ]
  return {
    of(destination) {
      const known = breakers.get(destination)
      if (known !== undefined) return known
      const added = createDestinationBreaker({
        ...options,
        probe: () => options.probe(destination),
        onChange: (open) => {
          options.onChange(destination, open)
        },
      })
      breakers.set(destination, added)
      return added
    },
    close() {
      for (const unregister of gauges) unregister()
    },
  }
}
