/** The architecture as data: who may exist, and who may depend on whom. */
interface RoleRule {
  /** Roles that a package of this role may depend on directly. */
  readonly mayDependOn: readonly string[]
  /** Built-in modules it may import; `'any'` for packages at the edge, whose work is I/O. */
  readonly builtins: readonly string[] | 'any'
}

const pureBuiltins = [
  'node:async_hooks',
  'node:buffer',
  'node:crypto',
  'node:events',
  'node:perf_hooks',
  'node:timers',
  'node:timers/promises',
  'node:util',
]
const adapter: RoleRule = { mayDependOn: ['contracts'], builtins: 'any' }
const domain = (...mayDependOn: readonly string[]): RoleRule => ({ mayDependOn, builtins: pureBuiltins })

export interface ArchitectureRules {
  readonly roles: Readonly<Record<string, RoleRule>>
  /** Third-party packages of which only types may be used, by package. */
  readonly typeOnly: Readonly<Record<string, readonly string[]>>
  /** The third-party SDK that each adapter has as its peer. */
  readonly sdkPeers: Readonly<Record<string, readonly string[]>>
  /** Of these the packages matched by `circuitBreakerUsers` may depend on one, the same everywhere. */
  readonly circuitBreakers: readonly string[]
  readonly circuitBreakerUsers: RegExp
}

export const architectureRules: ArchitectureRules = {
  roles: {
    contracts: { mayDependOn: [], builtins: ['node:crypto'] },
    engine: domain('contracts'),
    axis: domain('contracts', 'engine'),
    settlement: domain('contracts'),
    'axis-bridge': domain('contracts', 'settlement'),
    operations: domain('contracts'),
    lifecycle: { mayDependOn: ['contracts'], builtins: [...pureBuiltins, 'node:process'] },
    'storage-adapter': adapter,
    'transport-adapter': adapter,
    'telemetry-adapter': adapter,
    'test-kit': { mayDependOn: ['contracts'], builtins: [...pureBuiltins, 'node:assert/strict'] },
  },
  typeOnly: { '@litebus/core': ['@standard-schema/spec'] },
  sdkPeers: {
    '@litebus/storage-postgres': ['pg'],
    '@litebus/transport-amqp': ['amqplib'],
    '@litebus/transport-kafka': ['kafkajs'],
    '@litebus/transport-sqs': ['@aws-sdk/client-sqs'],
    '@litebus/transport-azure-service-bus': ['@azure/service-bus'],
    '@litebus/opentelemetry': ['@opentelemetry/api'],
  },
  circuitBreakers: ['cockatiel', 'opossum'],
  circuitBreakerUsers: /^@litebus\/(outbox|transport-.+)$/,
}
