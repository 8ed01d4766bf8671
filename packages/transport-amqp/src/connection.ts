import { backoffDelayMs, sleep, within, withinOr } from '@litebus/core'
import type { AmqpDriverConnection } from './driver.ts'
import { closedTransport, safeText, unavailable } from './errors.ts'
import type { AmqpConnectionRole, ResolvedAmqpOptions } from './options.ts'
import { destroySocket, dial, secretsOf } from './socket.ts'

/** A connection that is open. */
export interface OpenConnection {
  /** The connection of the client. */
  readonly driver: AmqpDriverConnection
  /** Aborts when it is gone. */
  readonly lost: AbortSignal
}

/** One of the two connections of a transport: opened when first needed, then kept open for ever. */
export interface AmqpConnection {
  /** The open connection, if there is one. */
  readonly current: OpenConnection | undefined
  /** True while the broker takes no publishes on it. */
  readonly blocked: boolean
  /** True once it is used. */
  readonly started: boolean
  /** True once closed by its owner. */
  readonly closed: boolean
  /**
   * The open connection, or what the attempt under way brings; between two attempts it rejects at once.
   *
   * @throws TransportUnavailableError TransportClosedError
   */
  ready(): Promise<OpenConnection>
  /** The open connection, or the next one, however many attempts that takes; undefined when the signal aborts. */
  next(signal: AbortSignal): Promise<OpenConnection | undefined>
  /** Listens for opened, lost, blocked and unblocked; the result stops listening. */
  onChange(listener: () => void): () => void
  /** Closes it for good. */
  close(): Promise<void>
}

/** How long a connection must last for the next attempt to start without a pause. */
const stableAfterMs = 5000

/** A connection that is not open yet. `prepare` runs on every new one before it is used. */
export function createAmqpConnection(
  options: ResolvedAmqpOptions,
  role: AmqpConnectionRole,
  prepare: (driver: AmqpDriverConnection) => Promise<void>,
): AmqpConnection {
  const { clock, logger } = options
  const secrets = secretsOf(options)
  const listeners = new Set<() => void>()
  const over = new AbortController()
  let current: OpenConnection | undefined
  let blocked = false
  let running: Promise<void> | undefined
  /** Why the last attempt failed; undefined while one is under way or open. */
  let failure: Error | undefined

  const changed = (): void => {
    for (const listener of [...listeners]) listener()
  }

  const watch = (driver: AmqpDriverConnection): OpenConnection => {
    const lost = new AbortController()
    // Without a listener an error event would end the process; the close event that follows tells the same.
    driver.on('error', (error: Error) => {
      logger.warn('the AMQP connection failed', { role, reason: safeText(error, secrets) })
    })
    driver.on('close', () => {
      destroySocket(driver)
      lost.abort()
    })
    driver.on('blocked', (reason: string) => {
      blocked = true
      logger.warn('the broker blocks publishes on this connection', { role, reason })
      changed()
    })
    driver.on('unblocked', () => {
      blocked = false
      logger.info('the broker takes publishes again', { role })
      changed()
    })
    return { driver, lost: lost.signal }
  }

  const open = async (): Promise<OpenConnection> => {
    const dialling = dial(options, role)
    const driver = await within(clock, options.connectTimeoutMs, dialling).catch((error: unknown) => {
      // A connection that arrives after its time is nobody's: it is closed, not leaked.
      void dialling.then(destroySocket, () => undefined)
      throw error
    })
    const opened = watch(driver)
    try {
      await within(clock, options.connectTimeoutMs, prepare(driver))
    } catch (error) {
      void driver.close().catch(() => undefined)
      destroySocket(driver)
      throw error
    }
    return opened
  }

  const lossOf = (opened: OpenConnection): Promise<void> =>
    new Promise((resolve) => {
      if (opened.lost.aborted) resolve()
      else
        opened.lost.addEventListener(
          'abort',
          () => {
            resolve()
          },
          { once: true },
        )
    })

  const pause = (attempt: number): Promise<void> =>
    sleep(clock, backoffDelayMs(attempt, options.reconnect, options.random), over.signal)

  const run = async (): Promise<void> => {
    for (let attempt = 1; !over.signal.aborted; attempt += 1) {
      failure = undefined
      try {
        const opened = await open()
        if (isOver()) {
          await shut(opened)
          return
        }
        const openedAt = clock.monotonic()
        current = opened
        logger.info('the AMQP connection is open', { role })
        changed()
        await lossOf(opened)
        current = undefined
        blocked = false
        if (!isOver()) logger.warn('the AMQP connection is lost and will be opened again', { role })
        changed()
        // One that broke at once counts as a failed attempt, so that a broker that drops clients is not hammered.
        if (clock.monotonic() - openedAt >= stableAfterMs) attempt = 0
        else await pause(attempt)
      } catch (error) {
        const reason = safeText(error, secrets)
        failure = unavailable('the broker cannot be reached', reason, error)
        logger.warn('the AMQP connection cannot be opened; trying again', { role, attempt, reason })
        changed()
        await pause(attempt)
      }
    }
  }

  const isOver = (): boolean => over.signal.aborted

  const shut = async ({ driver }: OpenConnection): Promise<void> => {
    await withinOr(driver.close(), { clock, limitMs: options.closeTimeoutMs, otherwise: undefined })
    destroySocket(driver)
  }

  const start = (): void => {
    running ??= run()
  }

  const nextChange = (signal?: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const finish = (): void => {
        listeners.delete(finish)
        signal?.removeEventListener('abort', finish)
        resolve()
      }
      listeners.add(finish)
      signal?.addEventListener('abort', finish, { once: true })
    })

  /** The moment between the loss of a connection and the end of its run counts as no connection. */
  const usable = (): OpenConnection | undefined => (current?.lost.aborted === false ? current : undefined)

  return {
    get current() {
      return usable()
    },
    get blocked() {
      return blocked
    },
    get started() {
      return running !== undefined
    },
    get closed() {
      return isOver()
    },
    async ready() {
      for (;;) {
        if (isOver()) throw closedTransport()
        start()
        const open = usable()
        if (open !== undefined) return open
        if (failure !== undefined) throw failure
        await nextChange()
      }
    },
    async next(signal) {
      while (!isOver() && !signal.aborted) {
        start()
        const open = usable()
        if (open !== undefined) return open
        await nextChange(signal)
      }
      return undefined
    },
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async close() {
      over.abort()
      if (current !== undefined) await shut(current)
      changed()
      await running
    },
  }
}
