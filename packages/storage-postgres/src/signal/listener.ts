import { inTime, untilAborted, type Clock, type Logger, type Timer } from '@litebus/core'
import { quote } from '../schema/names.ts'

/** The connection of a listener: a `Client` of `pg`. */
export interface ListenerClient {
  connect(): Promise<unknown>
  query(text: string): Promise<unknown>
  end(): Promise<unknown>
  on(event: 'notification', listener: (message: { payload?: string | undefined }) => void): unknown
  on(event: 'error' | 'end', listener: (error?: unknown) => void): unknown
}

/** What a listener works with. */
export interface ListenerOptions {
  readonly open: () => ListenerClient
  readonly channel: string
  readonly clock: Clock
  readonly logger: Logger
  /** Called with the payload, and without one when notifications may have been missed. */
  readonly onWork: (payload: string | undefined) => void
}

const heartbeatMs = 15_000
const answerMs = 5_000
const firstRetryMs = 250
const longestRetryMs = 30_000

/**
 * Keeps one connection listening. It dies in silence behind firewalls and poolers, so it is asked regularly, and
 * replaced when it does not answer; after each connect, work may have been missed.
 */
export class Listener {
  readonly #options: ListenerOptions
  /** Ends what is waited for: a client that is ended while it connects never answers. */
  readonly #closing = new AbortController()
  #state: 'idle' | 'connecting' | 'listening' | 'degraded' | 'closed' = 'idle'
  #client: ListenerClient | undefined
  #timer: Timer | undefined
  #failures = 0

  /** Does nothing before {@link Listener.start}. */
  constructor(options: ListenerOptions) {
    this.#options = options
  }

  /** True while notifications arrive. */
  get isListening(): boolean {
    return this.#state === 'listening'
  }

  /** True after a connection failed, until the next one listens. */
  get isDegraded(): boolean {
    return this.#state === 'degraded'
  }

  /** Starts to listen; further calls do nothing. */
  start(): void {
    if (this.#state !== 'idle') return
    this.#state = 'connecting'
    void this.#connect()
  }

  /** Stops for good. */
  async close(): Promise<void> {
    this.#state = 'closed'
    this.#closing.abort()
    this.#timer?.cancel()
    const client = this.#client
    this.#client = undefined
    if (client !== undefined) await this.#inTime(client.end()).catch(() => undefined)
  }

  async #connect(): Promise<void> {
    const { open, channel, onWork, logger } = this.#options
    const client = open()
    this.#client = client
    const onLost = (): void => {
      if (this.#client === client) this.#lost()
    }
    client.on('error', onLost)
    client.on('end', onLost)
    client.on('notification', ({ payload }) => {
      onWork(payload)
    })
    try {
      await this.#answered(client.connect())
      await this.#answered(client.query(`listen ${quote(channel)}`))
    } catch {
      onLost()
      return
    }
    if (this.#client !== client) return
    if (this.#state === 'degraded') logger.info('work signal: listening again')
    this.#state = 'listening'
    this.#failures = 0
    onWork(undefined)
    this.#beat(client)
  }

  #beat(client: ListenerClient): void {
    this.#timer = this.#options.clock.schedule(heartbeatMs, () => {
      this.#answered(client.query('select 1')).then(
        () => {
          if (this.#client === client) this.#beat(client)
        },
        () => {
          if (this.#client === client) this.#lost()
        },
      )
    })
  }

  #lost(): void {
    const client = this.#client
    this.#client = undefined
    this.#timer?.cancel()
    void client?.end().catch(() => undefined)
    if (this.#state === 'closed') return
    if (this.#state !== 'degraded') this.#options.logger.warn('work signal: connection lost, polling goes on')
    this.#state = 'degraded'
    const delayMs = Math.min(firstRetryMs * 2 ** this.#failures, longestRetryMs)
    this.#failures += 1
    this.#timer = this.#options.clock.schedule(delayMs, () => {
      void this.#connect()
    })
  }

  /** Rejects when there is no answer in time, or none is waited for any more. */
  #answered(work: Promise<unknown>): Promise<unknown> {
    return this.#inTime(untilAborted(work, this.#closing.signal))
  }

  /** A stalled connection would never answer. */
  #inTime(work: Promise<unknown>): Promise<unknown> {
    const onLate = (): Error => new Error('no answer')
    return inTime(work, { clock: this.#options.clock, limitMs: answerMs, onLate })
  }
}
