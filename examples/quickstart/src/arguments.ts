import { parseArgs } from 'node:util'

/** What the command line asks for. */
export interface QuickstartArguments {
  /** URL of a real broker; absent: the broker in memory. */
  readonly broker: string | undefined
  /** Print the closing table as one JSON object on the last line. */
  readonly json: boolean
}

/** Reads the command line. */
export function readArguments(argv: readonly string[]): QuickstartArguments {
  const { values } = parseArgs({
    args: argv.filter((argument) => argument !== '--'),
    options: { broker: { type: 'string' }, json: { type: 'boolean', default: false } },
  })
  if (values.broker !== undefined && !/^amqps?:\/\/[^/]/.test(values.broker)) {
    throw new Error('expected --broker to be an amqp:// or amqps:// URL with a host')
  }
  return { broker: values.broker, json: values.json }
}
