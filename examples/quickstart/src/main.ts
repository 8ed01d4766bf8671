import { startPostgresNode } from '@litebus/integration-tests/services'
import { readArguments } from './arguments.ts'
import { demo } from './demo-settings.ts'
import { countFaults, tableOf } from './report.ts'
import { runDemo } from './run-demo.ts'

const startedAt = performance.now()
const say = (line: string): void => {
  process.stdout.write(`${((performance.now() - startedAt) / 1000).toFixed(1).padStart(5)} s  ${line}\n`)
}

// Told to end: what was started ends with it, the database included.
const told = Promise.withResolvers<never>()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    told.reject(new Error(`ended by ${signal}`))
  })
}
told.promise.catch(() => undefined)

try {
  const options = readArguments(process.argv.slice(2))
  say('starting an embedded PostgreSQL')
  await using database = await startPostgresNode()
  say(options.broker === undefined ? 'using the broker in memory' : 'using the broker of --broker')
  const counts = await Promise.race([runDemo(database.url, options, say), told.promise])
  const faults = countFaults(counts, demo.orders)
  process.stdout.write(`\n${tableOf(counts)}\n\n`)
  for (const fault of faults) process.stderr.write(`${fault}\n`)
  process.stdout.write(faults.length === 0 ? `lost ${String(counts.lost)}\n` : 'the counts are wrong\n')
  process.exitCode = faults.length === 0 ? 0 : 1
  if (options.json) process.stdout.write(`${JSON.stringify(counts)}\n`)
} catch (error) {
  process.stderr.write(`quickstart failed: ${error instanceof Error ? error.message : String(error)}\n`)
  // Not only the code: what the demonstration has under way must not keep the process.
  process.exit(1)
}
