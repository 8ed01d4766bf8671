import { fileURLToPath } from 'node:url'
import { run, runs } from './run-program.ts'

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
