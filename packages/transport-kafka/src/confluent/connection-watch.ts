/** Finds lost connections in the statistics of librdkafka, which has no event for them. */
export interface ConnectionWatch {
  /** Looks at what the client has counted since the last time. */
  see(statistics: string): void
}

/** Told what is found. */
export interface ConnectionWatchEvents {
  /** A connection was lost that had been in use. */
  readonly onLost: () => void
  /** A broker has answered since. */
  readonly onAnswer: () => void
}

/** The part that is read, of one connection. */
interface BrokerStatistics {
  /** Such as `UP`. */
  readonly state?: string
  /** Answers so far. */
  readonly rx?: number
  /** Times that the connection was lost. */
  readonly disconnects?: number
  /** Microseconds since the last answer; negative where there was none. */
  readonly rxidle?: number
}

/** Brokers close connections that nobody uses; what matters is kept busy by fetches and heartbeats. */
const idleUs = 30_000_000

/** Has seen nothing yet. */
export function createConnectionWatch({ onLost, onAnswer }: ConnectionWatchEvents): ConnectionWatch {
  let before: Readonly<Record<string, BrokerStatistics>> = {}
  let lost = false

  const wasLost = (name: string, { disconnects = 0 }: BrokerStatistics): boolean => {
    const known = before[name]
    const { disconnects: earlier = 0, rxidle = -1 } = known ?? {}
    return known !== undefined && disconnects > earlier && rxidle >= 0 && rxidle < idleUs
  }
  const hasAnswered = (name: string, { state, rx = 0 }: BrokerStatistics): boolean =>
    state === 'UP' && rx > (before[name]?.rx ?? 0)

  return {
    see(statistics) {
      const now = brokersIn(statistics)
      if (now === undefined) return
      const brokers = Object.entries(now)
      if (brokers.some((broker) => wasLost(...broker))) {
        lost = true
        onLost()
      } else if (lost && brokers.some((broker) => hasAnswered(...broker))) {
        lost = false
        onAnswer()
      }
      before = now
    },
  }
}

function brokersIn(statistics: string): Readonly<Record<string, BrokerStatistics>> | undefined {
  try {
    return (JSON.parse(statistics) as { brokers?: Record<string, BrokerStatistics> }).brokers
  } catch {
    return undefined
  }
}
