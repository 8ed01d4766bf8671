/** One side of a comparison: prepares outside of the clock, then runs against it. */
export interface Side {
  /** Shown in the output. */
  readonly name: string
  /** Makes ready for one round; not timed. */
  prepare(): Promise<void>
  /** Does the work of one round and answers how many units it did. */
  run(): Promise<number>
  /** Takes down what a round has set up; not timed. */
  end?(): Promise<void>
}

/** What a benchmark prints. */
export interface BenchmarkResult {
  readonly name: string
  /** The figure that is compared with a bar; above 1 the product is better than its floor. */
  readonly ratio: number
  /** Median of the product, in units a second unless `unit` says otherwise. */
  readonly product: number
  /** Median of the floor. */
  readonly floor: number
  readonly unit: string
  readonly runs: number
  readonly environment: Readonly<Record<string, string | number>>
  readonly details: Readonly<Record<string, unknown>>
}

/** A benchmark by name. */
export interface Benchmark {
  /** What it measures, in one line. */
  readonly summary: string
  /** The bar that the product has to reach. */
  readonly bar: number
  /** The broker that it needs. @defaultValue none */
  readonly broker?: 'rabbitmq' | 'kafka'
  run(context: BenchmarkContext): Promise<Omit<BenchmarkResult, 'name' | 'environment'>>
}

/** What benchmarks work with. */
export interface BenchmarkContext {
  /** An empty database of its own; each call makes another one. */
  readonly createDatabase: () => Promise<string>
  /** A broker to use; only benchmarks that need one read it. */
  readonly brokerUrl: () => string
  /** Rounds of each side. */
  readonly rounds: number
  /** Options of the benchmark, for example `--keys 10`. */
  readonly options: Readonly<Record<string, string | undefined>>
  /** Tells about progress. */
  readonly say: (line: string) => void
}
