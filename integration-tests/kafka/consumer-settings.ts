/** What a consumer in a process of its own works with. */
export interface ConsumerSettings {
  readonly brokers: string
  readonly topic: string
  readonly group: string
  /** File to which it appends the delivery id of each record that it has handled. */
  readonly journal: string
  readonly inFlight: number
}

/** Reads what {@link consumerEnvironment} wrote. */
export function consumerSettings(environment: NodeJS.ProcessEnv): ConsumerSettings {
  return JSON.parse(environment['CONSUMER'] ?? '{}') as ConsumerSettings
}

/** The environment of a consumer. */
export function consumerEnvironment(settings: ConsumerSettings): NodeJS.ProcessEnv {
  return { PATH: process.env['PATH'] ?? '', CONSUMER: JSON.stringify(settings) }
}
