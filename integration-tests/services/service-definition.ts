/** How a service was found: the order of the words is the order in which it is looked for. */
export type ServiceSource = 'environment' | 'local' | 'docker' | 'own'

/** A server that answers, and what it takes to keep test files apart on it. */
export interface RunningService extends AsyncDisposable {
  readonly url: string
  readonly openSpace: (name: string) => Promise<ServiceSpace>
}

/** What one test file has to itself: a database, a vhost, or only names that begin with `prefix`. */
export interface ServiceSpace extends AsyncDisposable {
  readonly url: string
  /** Begin the name of everything made on the server with it. Empty where the space is closed in itself. */
  readonly prefix: string
}

/** One entry of the catalogue: all that the resolution has to know about a kind of server. */
export interface ServiceDefinition {
  readonly id: string
  readonly title: string
  /** The variable that names a server to use. */
  readonly variable: string
  /** Where a server listens on a machine that has one, with the account of a fresh installation. */
  readonly localUrl: string
  readonly howToGet: string
  readonly probe: (url: string) => Promise<void>
  readonly attach: (url: string) => Promise<RunningService>
  readonly startContainer: () => Promise<RunningService>
  /** `undefined` where this machine has no programs to start. */
  readonly startOwn: () => Promise<RunningService | undefined>
}
