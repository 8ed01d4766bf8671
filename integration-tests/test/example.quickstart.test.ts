import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { expect, it } from '@jest/globals'
import { describeWithServices } from '../services/describe-with-services.ts'
import { eventually } from '../services/index.ts'

const main = fileURLToPath(new URL('../../examples/quickstart/src/main.ts', import.meta.url))

interface Quickstart {
  readonly child: ChildProcess
  /** What it wrote so far, both streams. */
  readonly output: () => string
  readonly ended: Promise<number | string>
}

function startQuickstart(...args: readonly string[]): Quickstart {
  const child = spawn(process.execPath, ['--conditions=@litebus/source', main, ...args], {
    env: { PATH: process.env['PATH'] },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (output += text))
  }
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | string)
  return { child, output: () => output, ended }
}

/** Processes that run a worker of the quickstart, by the list of the system; elsewhere nothing can be said. */
async function workers(): Promise<readonly string[]> {
  const ids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name))
  const commands = await Promise.all(ids.map((id) => readFile(`/proc/${id}/cmdline`, 'utf8').catch(() => '')))
  return commands.filter((command) => command.includes('quickstart/src/worker.ts'))
}

await describeWithServices('the quickstart', ['startPostgresNode', 'rabbitmq'], ({ rabbitmq }) => {
  it.each(['memory', 'rabbitmq'])(
    'shows the main job with everything that goes wrong on the way, over %s, and counts right',
    async (kind) => {
      await using vhost = await rabbitmq.createVhost()
      const broker = kind === 'memory' ? [] : ['--broker', vhost.url]
      const { ended, output } = startQuickstart('--json', ...broker)
      expect([await ended, output()]).toEqual([0, expect.stringContaining('lost 0')])
      expect(JSON.parse(output().trimEnd().split('\n').at(-1) ?? '')).toMatchObject({
        placed: 40,
        rolledBack: 1,
        published: 80,
        delivered: 80,
        duplicatesAbsorbed: 40,
        identicalBodies: 40,
        workersKilled: 1,
        parked: 1,
        requeued: 1,
        effects: 40,
        repeatedEffects: 0,
        lost: 0,
      })
      expect(await workers()).toEqual([])
    },
    90_000,
  )

  it('ends with 1 and the reason when its broker cannot be used, and shows no password', async () => {
    const url = new URL((await rabbitmq.createVhost()).url)
    url.username = 'nobody'
    url.password = 'hunter2'
    const { ended, output } = startQuickstart('--broker', url.href)
    expect(await ended).toBe(1)
    expect(output()).toContain('ACCESS_REFUSED')
    expect(output()).not.toContain('hunter2')
  }, 60_000)

  it('leaves nothing running when it is told to end', async () => {
    const { child, ended, output } = startQuickstart()
    await eventually(
      () => {
        expect(output()).toContain('takes over')
      },
      { expectation: 'the second worker', timeoutMs: 60_000 },
    )
    child.kill('SIGTERM')
    expect(await ended).toBe(1)
    await eventually(
      async () => {
        expect(await workers()).toEqual([])
      },
      { expectation: 'no worker' },
    )
  }, 90_000)
})
