import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

interface OwnedCommand {
  /** Names the log and the pid file; a second command of the same name takes the place of the first. */
  readonly name: string
  readonly command: string
  readonly args: readonly string[]
  readonly env?: NodeJS.ProcessEnv
  readonly uid?: number
  readonly gid?: number
  /** Asks the server to end in order, with its clients cut. */
  readonly stopSignal: NodeJS.Signals
}

/** A temporary folder and the server processes that live in it; both end with this process, however it ends. */
export interface OwnedHome extends AsyncDisposable {
  readonly path: string
  spawn(command: OwnedCommand): Promise<OwnedProcess>
}

interface OwnedProcess {
  readonly running: boolean
  /** The last part of what it printed. */
  log(): Promise<string>
  /** Ends the whole process group and waits for it. Does nothing when it has ended. */
  end(signal: NodeJS.Signals): Promise<void>
}

/*
 * Reads until the pipe from our process breaks, which happens on every kind of death of it, SIGKILL included.
 * Each pid file holds "<signal> <process group>"; what is left after five seconds is killed.
 */
const watcher = `
cat > /dev/null
for file in "$1"/run/*.pid; do
  [ -f "$file" ] && read -r signal group < "$file" && kill -s "$signal" -- "-$group" 2> /dev/null
done
for file in "$1"/run/*.pid; do
  [ -f "$file" ] && read -r signal group < "$file" || continue
  tries=0
  while [ $tries -lt 50 ] && kill -0 -- "-$group" 2> /dev/null; do sleep 0.1; tries=$((tries + 1)); done
  kill -s KILL -- "-$group" 2> /dev/null
done
rm -rf "$1"
`

export async function createOwnedHome(prefix: string): Promise<OwnedHome> {
  const path = await mkdtemp(join(tmpdir(), prefix))
  await mkdir(join(path, 'run'))
  const guard = spawn('/bin/sh', ['-c', watcher, 'litebus-watcher', path], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  const guardEnded = once(guard, 'exit')
  const processes = new Map<string, OwnedProcess>()
  return {
    path,
    async spawn(command) {
      const started = await spawnOwned(path, command)
      processes.set(command.name, started)
      return started
    },
    async [Symbol.asyncDispose]() {
      for (const owned of [...processes.values()].reverse()) await owned.end('SIGKILL')
      await rm(path, { recursive: true, force: true })
      guard.stdin.end()
      await guardEnded
    },
  }
}

async function spawnOwned(
  home: string,
  { name, command, args, stopSignal, ...account }: OwnedCommand,
): Promise<OwnedProcess> {
  const logFile = join(home, `${name}.log`)
  const pidFile = join(home, 'run', `${name}.pid`)
  await using output = await open(logFile, 'a')
  const child = spawn(command, args, {
    ...account,
    cwd: home,
    detached: true,
    stdio: ['ignore', output.fd, output.fd],
  })
  const ended = once(child, 'exit').then(() => rm(pidFile, { force: true }))
  await once(child, 'spawn')
  const group = child.pid ?? 0
  if (isRunning(child)) await writeFile(pidFile, `${stopSignal.replace(/^SIG/, '')} ${String(group)}\n`)
  return {
    get running() {
      return isRunning(child)
    },
    async log() {
      return (await readFile(logFile, 'utf8').catch(() => '')).slice(-4096)
    },
    async end(signal) {
      if (isRunning(child)) process.kill(-group, signal)
      await ended
    },
  }
}

function isRunning(child: ChildProcess): boolean {
  return child.exitCode === null && child.signalCode === null
}
