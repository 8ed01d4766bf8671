import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import type { WorkerNews } from './worker.ts'

/** A worker in a process of its own. */
export interface WorkerProcess extends AsyncDisposable {
  /** Process id. */
  readonly pid: number | undefined
  /** Ends it without a word, as a crash does. */
  kill(): Promise<void>
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
  const ready = new Promise<void>((resolve, reject) => {
    child.on('message', (news: WorkerNews) => {
      if (news.kind === 'ready') resolve()
      onNews(news)
    })
    child.once('exit', (code) => {
      reject(new Error(`expected the worker to start, it ended with ${String(code)}`))
    })
  })
  await ready
  return {
    pid: child.pid,
    kill: () => end(child, 'SIGKILL'),
    stop: () => end(child, 'SIGTERM'),
    [Symbol.asyncDispose]: () => end(child, 'SIGKILL'),
  }
}

async function end(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill(signal)
  await exited
}
