import { readFileSync } from 'node:fs'
import { describe, expect, it } from '@jest/globals'
import { registerSuite, transportConformance } from '@litebus/conformance'
import { createToyBroker } from './toy-broker.ts'
import { toyTransport } from './toy-transport.ts'

registerSuite(
  transportConformance({
    adapter: 'toy',
    profile: {
      kinds: { plain: toyTransport(createToyBroker()).capabilitiesOf('any') },
      foreignPublisher: false,
    },
    open: () => {
      const broker = createToyBroker()
      let created = 0
      return Promise.resolve({
        createDestination() {
          created += 1
          const name = `queue-${String(created)}`
          broker.declare(name)
          return Promise.resolve({ destination: name, source: name })
        },
        connect: () => toyTransport(broker),
        count: (source) => Promise.resolve(broker.count(source)),
        deleteSource(source) {
          broker.remove(source)
          return Promise.resolve()
        },
        disrupt: {
          cutConnections() {
            broker.cut()
            return Promise.resolve()
          },
          cancelConsumers(source) {
            broker.cancel(source)
            return Promise.resolve()
          },
        },
      })
    },
  }),
  { describe, it },
)

describe('the how-to', () => {
  it('shows the adapter and the test that run here', () => {
    const page = readFileSync(
      new URL('../../../../docs/how-to/bring-your-own-broker.md', import.meta.url),
      'utf8',
    )
    for (const file of ['toy-transport.ts', 'toy.test.ts']) {
      const code = readFileSync(new URL(file, import.meta.url), 'utf8')
      const shown = code.split("\ndescribe('the how-to'")[0]?.trimEnd()
      expect(page).toContain(`\`\`\`ts\n${shown ?? ''}\n\`\`\``)
    }
  })
})
