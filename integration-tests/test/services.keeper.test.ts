import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { describe, expect, test } from '@jest/globals'
import { eventually } from '../services/index.ts'
import { probePostgres } from '../services/postgres/start-postgres-node.ts'

const services = new URL('../services/index.ts', import.meta.url).href

/* A test command in small: it has servers started, says where, and waits to be killed. */
const testCommand = `
  const { startKeeper, postgres, startPostgresNode } = await import('${services}')
  await startKeeper()
  const [shared, own] = await Promise.all([postgres(), startPostgresNode()])
  console.log(JSON.stringify([shared.url, own.url]))
`

/* Without a server of this machine, so that what the command uses is what it started. */
const startsItsOwn = { ...process.env, DATABASE_URL: '', CI: '', LITEBUS_TEST_LOCAL: '', NODE_OPTIONS: '' }

describe('a test command that is killed', () => {
  test('takes its servers with it', async () => {
    const command = spawn(process.execPath, ['--input-type=module', '-e', testCommand], {
      env: startsItsOwn,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const output = createInterface(command.stdout)
    const [line] = (await Promise.race([once(output, 'line'), once(output, 'close')])) as [string?]
    const urls = JSON.parse(line ?? 'null') as readonly string[]
    for (const url of urls) await probePostgres(url)
    command.kill('SIGKILL')
    for (const url of urls) {
      await eventually(() => expect(probePostgres(url)).rejects.toThrow('ECONNREFUSED'), {
        expectation: `nothing to answer at ${url}`,
      })
    }
  }, 60_000)
})
