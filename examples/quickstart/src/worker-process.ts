import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { within } from './within.ts'
import type { WorkerNews } from './worker.ts'

/** A worker in a process of its own. */
export interface WorkerProcess extends AsyncDisposable {
  /** Process id. */
  readonly pid: number | undefined
  /** Ends it without a word, as a crash does; answers the signal that ended it, null when it had ended before. */
  kill(): Promise<NodeJS.Signals | null>
  /** Rejects when the process ends by itself. */
  readonly ended: Promise<never>
  /** Ends it in an orderly way. */
  stop(): Promise<void>
}

/** Starts a worker and waits until it works. */
export async function startWorker(
  env: Readonly<Record<string, string>>,
  onNews: (news: WorkerNews) => void,
): Promise<WorkerProcess> {
  const child = fork(fileURLToPath(new URL('worker.ts', import.meta.url)), [], {
    env: { ...process.env, ...env },
    execArgv: ['--conditions=@litebus/source'],
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  })
  const { promise: ended, reject: endsByItself } = Promise.withResolvers<never>()
  ended.catch(() => undefined)
  let told = false
  child.once('exit', (code, signal) => {
    if (!told) endsByItself(new Error(`expected the worker to work, it ended with ${String(code ?? signal)}`))
  })
  const ready = new Promise<void>((resolve) => {
    child.on('message', (news: WorkerNews) => {
      if (news.kind === 'ready') resolve()
      onNews(news)
    })
  })
  const end = async (how: NodeJS.Signals): Promise<NodeJS.Signals | null> => {
    if (child.exitCode !== null || child.signalCode !== null) return null
    told = true
    const exited = once(child, 'exit') as Promise<[number | null, NodeJS.Signals | null]>
    child.kill(how)
    const [, signal] = await exited
    return signal
  }
  await within(20_000, 'the worker to start', Promise.race([ready, ended]))
  return {
    pid: child.pid,
    ended,
    kill: () => end('SIGKILL'),
    stop: async () => {
      await end('SIGTERM')
    },
    async [Symbol.asyncDispose]() {
      await end('SIGKILL')
    },
  }
}
