/** A server that one test owns, for what would disturb others: restarts, crashes, alarms, limits. */
export interface ServiceNode extends AsyncDisposable {
  readonly url: string
  readonly port: number
  /** Ends it in order: clients are cut, data is kept. */
  stop(): Promise<void>
  /** Starts it again on the same port with the same data, after `stop` or `kill`. */
  start(): Promise<void>
  /** `stop`, then `start`. */
  restart(): Promise<void>
  /**
   * Ends it as a crash would: nothing is flushed, the next start recovers. A RabbitMQ node may then have forgotten
   * what was declared just before; `ctl(['eval', 'mnesia:sync_log().'])` writes definitions down.
   */
  kill(): Promise<void>
  /** Runs the server's own control program against it and returns what it printed. */
  ctl(args: readonly string[]): Promise<string>
}
