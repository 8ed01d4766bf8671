/* `pnpm bench <name> [--json] [--rounds N] [--keys N …]`: one ratio against a floor measured in the same run. */
import { parseArgs } from 'node:util'
import { kafka, postgres, rabbitmq, startKeeper } from '@litebus/integration-tests/services'
import { benchmarks } from './benchmarks.ts'
import type { BenchmarkResult } from './harness/benchmark.ts'
import { describeEnvironment } from './harness/environment.ts'

const { values, positionals } = parseArgs({
  args: process.argv.slice(2).filter((argument) => argument !== '--'),
  allowPositionals: true,
  options: {
    json: { type: 'boolean', default: false },
    rounds: { type: 'string', default: '5' },
    keys: { type: 'string' },
    messages: { type: 'string' },
  },
})
const [name = ''] = positionals
const benchmark = benchmarks.get(name)
if (benchmark === undefined) {
  const list = [...benchmarks].map(
    ([known, { summary, bar }]) => `  ${known.padEnd(16)} ${summary} (bar ${String(bar)})`,
  )
  process.stderr.write(
    `expected the name of a benchmark, found ${JSON.stringify(name)}:\n${list.join('\n')}\n`,
  )
  process.exit(1)
}
const say = (line: string): void => {
  process.stdout.write(`${line}\n`)
}
await using resources = new AsyncDisposableStack()
resources.use(await startKeeper())
const server = await postgres()
const createDatabase = async (): Promise<string> => resources.use(await server.createDatabase()).url
const openSpace = {
  rabbitmq: async () => (await rabbitmq()).createVhost(),
  kafka: async () => (await kafka()).createTopics(),
}
const space = benchmark.broker === undefined ? undefined : resources.use(await openSpace[benchmark.broker]())
const environment = await describeEnvironment(server.url)
const result = await benchmark.run({
  createDatabase,
  brokerUrl: () => {
    if (space === undefined) throw new Error(`expected benchmark ${name} to say that it needs a broker`)
    return space.url
  },
  rounds: Number(values.rounds),
  options: { keys: values.keys, messages: values.messages },
  say,
})
const report: BenchmarkResult = { name, environment, ...result }
say('')
say(
  `${name}: ratio ${report.ratio.toFixed(3)} (bar ${String(benchmark.bar)}), product ${report.product.toFixed(0)}, floor ${report.floor.toFixed(0)} ${report.unit}, ${String(report.runs)} rounds`,
)
say(JSON.stringify({ environment, details: report.details }, null, 1))
if (values.json) say(JSON.stringify(report))
