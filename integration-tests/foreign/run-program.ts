import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** Whether a program can be run here. */
export async function runs(command: string, args: readonly string[]): Promise<boolean> {
  const child = spawn(command, args, { stdio: 'ignore' })
  try {
    const [code] = (await once(child, 'exit')) as [number | null]
    return code === 0
  } catch {
    return false
  }
}

/** Runs a program with an input to its end; anything but exit code 0 is an error with what it said. */
export async function run(
  command: string,
  args: readonly string[],
  {
    input,
    env = {},
  }: { readonly input: string | Uint8Array; readonly env?: Readonly<Record<string, string>> },
): Promise<void> {
  const child = spawn(command, args, { env: { ...process.env, ...env }, stdio: ['pipe', 'ignore', 'pipe'] })
  let log = ''
  child.stderr.setEncoding('utf8').on('data', (text: string) => (log = (log + text).slice(-2000)))
  // One that ends before it has read everything says why on its other channel.
  child.stdin.on('error', () => undefined).end(input)
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`expected ${command} to publish, it ended with ${String(code)}: ${log}`)
}
