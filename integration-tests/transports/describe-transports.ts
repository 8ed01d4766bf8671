import { afterAll, beforeAll } from '@jest/globals'
import type { Scope, TransportProfile } from '@litebus/conformance'
import { describeWithServices } from '../services/describe-with-services.ts'
import { openPath, type MessagePath } from './message-path.ts'
import { testedTransports, type PreparedBroker } from './tested-transports.ts'

/** What a matrix is defined with. */
export interface TransportUnderTest {
  /** What the transport declares. */
  readonly profile: TransportProfile
  /** Opens a broker and an empty PostgreSQL schema, hands both to `work`, and closes everything afterwards. */
  readonly withPath: (work: (path: MessagePath) => Promise<void>) => Promise<void>
}

/** Describes the same tests for every transport, each with a PostgreSQL behind it. */
export async function describeTransports(
  title: string,
  define: (transport: TransportUnderTest) => void,
): Promise<void> {
  for (const { name, services, profile, prepare } of testedTransports) {
    await describeWithServices(`${title} (${name})`, ['postgres', ...services], (provided) => {
      const resources = new AsyncDisposableStack()
      let open: PreparedBroker | undefined
      const scope: Scope = {
        use: (resource) => resources.use(resource),
        defer: (dispose) => {
          resources.defer(async () => {
            await dispose()
          })
        },
      }
      beforeAll(async () => {
        open = await prepare(scope, provided)
      })
      afterAll(() => resources.disposeAsync())
      define({
        profile,
        withPath: (work) => {
          if (open === undefined) throw new Error('expected the broker to be prepared before a test runs')
          return openPath({ postgres: provided.postgres, open }, work)
        },
      })
    })
  }
}
