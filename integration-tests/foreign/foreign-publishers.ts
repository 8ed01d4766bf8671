import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

/** A message of a publisher that is not LiteBus. */
interface ForeignMessage {
  readonly queue: string
  readonly body: Uint8Array
  readonly headers?: Readonly<Record<string, unknown>>
  readonly messageId?: string
}

/** Publishers of other languages. */
export interface ForeignPublishers {
  /** Python's pika. */
  readonly pika: (url: string, messages: readonly ForeignMessage[]) => Promise<void>
  /** Debian's amqp-tools, which cannot set a message id. */
  readonly amqpTools: (url: string, message: Omit<ForeignMessage, 'messageId'>) => Promise<void>
}

const python = '/usr/bin/python3'

/** What is missing for them on this machine; `undefined` when nothing is. */
export async function missingForeignPublishers(): Promise<string | undefined> {
  const missing: string[] = []
  if (!(await runs(python, ['-c', 'import pika']))) missing.push('python3-pika')
  if (!(await runs('amqp-publish', ['--help']))) missing.push('amqp-tools')
  return missing.length === 0 ? undefined : `install ${missing.join(' and ')} (Debian)`
}

export const foreignPublishers: ForeignPublishers = {
  pika(url, messages) {
    const lines = messages.map(({ queue, body, headers, messageId }) =>
      JSON.stringify({
        queue,
        body: Buffer.from(body).toString('base64'),
        headers,
        message_id: messageId,
        content_type: 'application/json',
      }),
    )
    const script = fileURLToPath(new URL('publish.py', import.meta.url))
    return run(python, [script], { input: lines.join('\n'), env: { AMQP_URL: url } })
  },
  amqpTools(url, { queue, body, headers = {} }) {
    const given = Object.entries(headers).flatMap(([name, value]) => ['-H', `${name}: ${String(value)}`])
    return run('amqp-publish', ['-u', url, '-r', queue, '-C', 'application/json', '-p', ...given], {
      input: body,
    })
  },
}

async function runs(command: string, args: readonly string[]): Promise<boolean> {
  const child = spawn(command, args, { stdio: 'ignore' })
  try {
    const [code] = (await once(child, 'exit')) as [number | null]
    return code === 0
  } catch {
    return false
  }
}

async function run(
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
  child.stdin.end(input)
  const [code] = (await once(child, 'close')) as [number | null]
  if (code !== 0) throw new Error(`expected ${command} to publish, it ended with ${String(code)}: ${log}`)
}
