import { createHost } from '../src/index.ts'

/** A process with one part, ended by its default signals; the server of a real one would keep it alive like this. */
const [how] = process.argv.slice(2)
let alive: NodeJS.Timeout | undefined
const host = createHost({
  shutdownBudgetMs: 200,
  exitAfterMs: 50,
  logger: {
    debug: () => undefined,
    info: () => undefined,
    error: () => undefined,
    // Beside the timer there are the pipes that the test reads from.
    warn: (_message, fields) => {
      const isNamed = String(fields?.['resources']).split(' ').includes('Timeout')
      process.stdout.write(isNamed ? 'ended with a timer\n' : 'ended\n')
    },
  },
  parts: [
    {
      name: 'part',
      start: () => {
        alive = setInterval(() => undefined, 1000)
        process.stdout.write('started\n')
      },
      stop: () => {
        if (how === 'stuck') return new Promise(() => undefined)
        if (how !== 'left open') clearInterval(alive)
        process.stdout.write('stopped\n')
        return undefined
      },
    },
  ],
})
const { outcome } = await host.run()
process.stdout.write(`${outcome}\n`)
