import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { fileURLToPath } from 'node:url'

/** One line of the JSON log of a service. */
interface LogLine {
  readonly level: string
  readonly message: string
  readonly eventId?: number
  readonly url?: string
  readonly [field: string]: unknown
}

/** A service of the examples in a process of its own. */
export interface ServiceProcess extends AsyncDisposable {
  /** Where it listens. */
  readonly url: string
  /** What it logged so far. */
  readonly log: readonly LogLine[]
  /** Ends it as a crash does. */
  kill(): Promise<void>
  /** Asks it to end and answers its exit code. */
  terminate(): Promise<number | null>
}

/** Starts `main.ts` of a service and waits until it listens. */
export async function startService(
  service: 'orders' | 'billing',
  env: Readonly<Record<string, string>>,
): Promise<ServiceProcess> {
  const main = fileURLToPath(
    new URL(`../../examples/orders-and-billing/src/${service}/main.ts`, import.meta.url),
  )
  const child = spawn(process.execPath, ['--conditions=@litebus/source', main], {
    env: { PATH: process.env['PATH'] ?? '', PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const log: LogLine[] = []
  let faults = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (faults = (faults + text).slice(-4000)))
  const url = await new Promise<string>((resolve, reject) => {
    createInterface(child.stdout).on('line', (text) => {
      const line = JSON.parse(text) as LogLine
      log.push(line)
      if (line.message === 'listening' && line.url !== undefined) resolve(line.url)
    })
    child.once('exit', (code) => {
      reject(
        new Error(
          `expected ${service} to listen, it ended with ${String(code)}: ${faults} ${JSON.stringify(log)}`,
        ),
      )
    })
  })
  return {
    url,
    log,
    async kill() {
      await end(child, 'SIGKILL')
    },
    terminate: () => end(child, 'SIGTERM'),
    async [Symbol.asyncDispose]() {
      await end(child, 'SIGKILL')
    },
  }
}

async function end(
  child: ChildProcessByStdio<null, Readable, Readable>,
  signal: NodeJS.Signals,
): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
  const exited = once(child, 'exit') as Promise<[number | null]>
  child.kill(signal)
  const [code] = await exited
  return code
}
