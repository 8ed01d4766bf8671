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

interface Connection {
  readonly client: ListenerClient
  /** Aborts when nothing of it is waited for any more. */
  readonly ended: AbortController
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
  #state: 'idle' | 'connecting' | 'listening' | 'degraded' | 'closed' = 'idle'
  #connection: Connection | undefined
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
    const wasListening = this.#state === 'listening'
    this.#state = 'closed'
    this.#timer?.cancel()
    const ended = this.#end()
    // One that is not connected may never say that it has ended.
    if (wasListening) await this.#inTime(ended).catch(() => undefined)
  }

  async #connect(): Promise<void> {
    const { channel, onWork, logger } = this.#options
    const connection = this.#open()
    if (connection === undefined) return
    const { client } = connection
    const onLost = (): void => {
      if (this.#connection === connection) this.#lost()
    }
    client.on('error', onLost)
    client.on('end', onLost)
    client.on('notification', ({ payload }) => {
      onWork(payload)
    })
    try {
      await this.#answered(connection, client.connect())
      await this.#answered(connection, client.query(`listen ${quote(channel)}`))
    } catch {
      onLost()
      return
    }
    if (this.#connection !== connection) return
    if (this.#state === 'degraded') logger.info('work signal: listening again')
    this.#state = 'listening'
    this.#failures = 0
    onWork(undefined)
    this.#beat(connection)
  }

  /** A client that cannot even be made is a connection that was lost. */
  #open(): Connection | undefined {
    try {
      const connection = { client: this.#options.open(), ended: new AbortController() }
      this.#connection = connection
      return connection
    } catch {
      this.#lost()
      return undefined
    }
  }

  #beat(connection: Connection): void {
    this.#timer = this.#options.clock.schedule(heartbeatMs, () => {
      this.#answered(connection, connection.client.query('select 1')).then(
        () => {
          if (this.#connection === connection) this.#beat(connection)
        },
        () => {
          if (this.#connection === connection) this.#lost()
        },
      )
    })
  }

  /** Gives up the connection, and what is waited for: a client that is ended while it connects never answers. */
  async #end(): Promise<void> {
    const connection = this.#connection
    this.#connection = undefined
    connection?.ended.abort()
    await connection?.client.end().catch(() => undefined)
  }

  #lost(): void {
    this.#timer?.cancel()
    void this.#end()
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
  #answered({ ended }: Connection, work: Promise<unknown>): Promise<unknown> {
    return this.#inTime(untilAborted(work, ended.signal))
  }

  /** A stalled connection would never answer. */
  #inTime(work: Promise<unknown>): Promise<unknown> {
    const onLate = (): Error => new Error('no answer')
    return inTime(work, { clock: this.#options.clock, limitMs: answerMs, onLate })
  }
}
