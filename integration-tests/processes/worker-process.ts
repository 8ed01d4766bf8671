import { fork, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A program of `workers/` in a process of its own. */
export interface WorkerProcess extends AsyncDisposable {
  /** Resolves with the code or the signal that ended it. */
  readonly ended: Promise<number | string>
  /** Tells it to go on. */
  goOn(): void
  /** Sends it a question and answers what it says next. */
  ask(question: string): Promise<unknown>
  /** Asks it to end, without waiting. */
  terminate(): void
  /** Ends it as a crash does. */
  kill(): Promise<void>
}

/** Starts a worker and waits until it says that it is ready. */
export async function startWorker(program: string, env: NodeJS.ProcessEnv): Promise<WorkerProcess> {
  const main = fileURLToPath(new URL(`../workers/${program}.ts`, import.meta.url))
  const child = fork(main, {
    env,
    execArgv: ['--conditions=@litebus/source'],
    stdio: ['ignore', 'inherit', 'pipe', 'ipc'],
  })
  let faults = ''
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (faults = (faults + text).slice(-4000)))
  const ended = once(child, 'exit').then(([code, signal]) => (code ?? signal) as number | string)
  const first = await Promise.race([once(child, 'message'), ended])
  if (!Array.isArray(first)) {
    throw new Error(`expected ${program} to start, it ended with ${String(first)}: ${faults}`)
  }
  return {
    ended,
    goOn: () => child.send('go on'),
    async ask(question) {
      const answer = once(child, 'message')
      child.send(question)
      const said = await Promise.race([answer, ended])
      if (Array.isArray(said)) return said[0] as unknown
      throw new Error(`expected ${program} to answer, it ended with ${String(said)}: ${faults}`)
    },
    terminate: () => child.kill('SIGTERM'),
    kill: () => kill(child, ended),
    [Symbol.asyncDispose]: () => kill(child, ended),
  }
}

async function kill(child: ChildProcess, ended: Promise<unknown>): Promise<void> {
  child.kill('SIGKILL')
  await ended
}
