import { z } from 'zod'

const wholeNumber = z
  .string()
  .regex(/^\d{1,9}$/, 'expected a whole number')
  .transform(Number)

const environment = z.object({
  DATABASE_URL: z.url({ protocol: /^postgres(?:ql)?$/ }),
  AMQP_URL: z.url({ protocol: /^amqps?$/ }),
  PORT: wholeNumber.pipe(z.number().max(65_535)),
  QUEUE: z.string().min(1).max(200).default('billing.orders'),
  LEASE_MS: wholeNumber.pipe(z.number().min(100)).default(60_000),
  SHUTDOWN_MS: wholeNumber.default(25_000),
  PUBLISH_TWICE: z.stringbool().default(false),
})

/** What both services read from their environment. */
export interface ServiceConfig {
  /** Where the tables are. */
  readonly databaseUrl: string
  /** Where the queue is. */
  readonly amqpUrl: string
  /** HTTP port; 0 takes a free one. */
  readonly port: number
  /** Queue between the two services. */
  readonly queue: string
  /** Duration of a lease. */
  readonly leaseMs: number
  /** One deadline for the whole stop. */
  readonly shutdownMs: number
  /** Shows that duplicates are absorbed: each message is published twice under its id. */
  readonly publishTwice: boolean
}

/** Reads the environment. Ends the process with one line for every fault at once, which never shows values of URLs. */
export function readConfig(env: NodeJS.ProcessEnv, defaultPort: number): ServiceConfig {
  const parsed = environment.safeParse({ PORT: String(defaultPort), ...env })
  if (!parsed.success) {
    const faults = parsed.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`)
    process.stderr.write(`expected a valid environment, found: ${faults.join('; ')}\n`)
    process.exit(1)
  }
  const { data } = parsed
  return {
    databaseUrl: data.DATABASE_URL,
    amqpUrl: data.AMQP_URL,
    port: data.PORT,
    queue: data.QUEUE,
    leaseMs: data.LEASE_MS,
    shutdownMs: data.SHUTDOWN_MS,
    publishTwice: data.PUBLISH_TWICE,
  }
}
