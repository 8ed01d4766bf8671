import { spawn, type SpawnOptions } from 'node:child_process'
import { once } from 'node:events'

export interface CommandOptions extends Pick<SpawnOptions, 'cwd' | 'env' | 'uid' | 'gid'> {
  /** The command is ended with SIGKILL after this time. @defaultValue 60000 */
  readonly timeoutMs?: number
}

/** Runs a command to its end and returns what it printed; anything but exit code 0 is an error with its output. */
export async function runCommand(
  command: string,
  args: readonly string[],
  { timeoutMs = 60_000, ...options }: CommandOptions = {},
): Promise<string> {
  const child = spawn(command, args, {
    ...options,
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  })
  let stdout = ''
  let stderr = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
  const [code, signal] = (await once(child, 'close')) as [number | null, NodeJS.Signals | null]
  if (code === 0) return stdout
  const found = signal === null ? `it ended with ${String(code)}` : `it was ended by ${signal}`
  throw new Error(`expected \`${[command, ...args].join(' ')}\` to succeed, ${found}:\n${stdout}${stderr}`)
}
