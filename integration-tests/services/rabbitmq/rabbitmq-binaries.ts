import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'

export interface RabbitmqBinaries {
  readonly server: string
  readonly ctl: string
  readonly epmd: string
}

/*
 * Debian's programs in /usr/sbin switch to the account rabbitmq and drop the environment, which names our node:
 * the folder behind them comes first.
 */
const folders = [
  '/usr/lib/rabbitmq/bin',
  '/opt/homebrew/sbin',
  '/usr/local/sbin',
  ...(process.env.PATH ?? '').split(delimiter),
]

/** The programs of a locally installed RabbitMQ, if there is one. */
export function findRabbitmqBinaries(): RabbitmqBinaries | undefined {
  const server = locate('rabbitmq-server')
  const ctl = locate('rabbitmqctl')
  const epmd = locate('epmd')
  return server === undefined || ctl === undefined || epmd === undefined ? undefined : { server, ctl, epmd }
}

function locate(program: string): string | undefined {
  return folders.map((folder) => join(folder, program)).find((path) => existsSync(path))
}
