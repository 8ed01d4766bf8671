/** What a consumer in a process of its own works with. */
export interface ConsumerSettings {
  readonly brokers: string
  readonly topic: string
  readonly group: string
  /** File to which it appends the delivery id of each record that it has handled. */
  readonly journal: string
  readonly inFlight: number
}
