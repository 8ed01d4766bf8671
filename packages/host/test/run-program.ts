import { createHost } from '../src/index.ts'

/** A process with one part, ended by its default signals; the server of a real one would keep it alive like this. */
let alive: NodeJS.Timeout | undefined
const host = createHost({
  parts: [
    {
      name: 'part',
      start: () => {
        alive = setInterval(() => undefined, 1000)
        process.stdout.write('started\n')
      },
      stop: () => {
        clearInterval(alive)
        process.stdout.write('stopped\n')
      },
    },
  ],
})
const { outcome } = await host.run()
process.stdout.write(`${outcome}\n`)
