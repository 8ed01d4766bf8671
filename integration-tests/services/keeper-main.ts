/*
 * The process that holds the services of one test command, started by `startKeeper`. It prints its address, serves the
 * test processes, and ends everything when its standard input ends, which happens however the test command dies.
 */
import { once } from 'node:events'
import { hasContainerEngine } from './container-engine.ts'
import { serveKeeper } from './keeper-server.ts'
import { serviceCatalogue } from './service-catalogue.ts'
import { createServiceKeeper } from './service-keeper.ts'

for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined)

await using keeper = createServiceKeeper({
  catalogue: serviceCatalogue,
  environment: process.env,
  hasContainerEngine,
  report: (line) => process.stderr.write(`${line}\n`),
})
await using server = await serveKeeper(keeper)
process.stdout.write(`${server.address}\n`)
process.stdin.resume()
await once(process.stdin, 'end')
