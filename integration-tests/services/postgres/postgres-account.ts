import { execFileSync } from 'node:child_process'

export interface PostgresAccount {
  readonly uid: number
  readonly gid: number
}

/** PostgreSQL refuses to run as root: then it gets the account `postgres`, which is made where it is missing. */
export function postgresAccount(): PostgresAccount | undefined {
  if (process.getuid?.() !== 0) return undefined
  try {
    return lookUp()
  } catch {
    const shape = ['--system', '--user-group', '--no-create-home', '--shell', '/usr/sbin/nologin']
    execFileSync('useradd', [...shape, 'postgres'], { stdio: 'pipe' })
    return lookUp()
  }
}

function lookUp(): PostgresAccount {
  const id = (flag: string): number =>
    Number(execFileSync('id', [flag, 'postgres'], { encoding: 'utf8', stdio: 'pipe' }))
  return { uid: id('-u'), gid: id('-g') }
}
