import { afterAll, beforeAll } from '@jest/globals'
import type { Scope, TransportProfile } from '@litebus/conformance'
import { describeWithServices } from '../services/describe-with-services.ts'
import type { BrokerAddress } from './broker-address.ts'
import { openPath, type MessagePath } from './message-path.ts'
import { testedTransports, type PreparedBroker, type TestedTransport } from './tested-transports.ts'

/** What a matrix is defined with. */
export interface TransportUnderTest {
  /** What the transport declares. */
  readonly profile: TransportProfile
  /** Where other processes find the broker, for transports that are remote. */
  readonly address: () => BrokerAddress
  /** What the broker knows of those who consume a source; see {@link PreparedBroker.membership}. */
  readonly membership: (source: string) => Promise<unknown>
  /** Opens a broker and an empty PostgreSQL schema, hands both to `work`, and closes everything afterwards. */
  readonly withPath: (work: (path: MessagePath) => Promise<void>) => Promise<void>
}

/** Describes the same tests for every transport, or for some of them, each with a PostgreSQL behind it. */
export async function describeTransports(
  title: string,
  define: (transport: TransportUnderTest) => void,
  among: readonly TestedTransport[] = testedTransports,
): Promise<void> {
  for (const { name, services, profile, prepare } of among) {
    await describeWithServices(`${title} (${name})`, ['postgres', ...services], (provided) => {
      const resources = new AsyncDisposableStack()
      let broker: PreparedBroker | undefined
      const scope: Scope = {
        use: (resource) => resources.use(resource),
        defer: (dispose) => {
          resources.defer(async () => {
            await dispose()
          })
        },
      }
      beforeAll(async () => {
        broker = await prepare(scope, provided)
      })
      afterAll(() => resources.disposeAsync())
      const prepared = (): PreparedBroker => {
        if (broker === undefined) throw new Error('expected the broker to be prepared before a test runs')
        return broker
      }
      define({
        profile,
        address: () => {
          const { address } = prepared()
          if (address === undefined) throw new Error('expected a broker that other processes can reach')
          return address
        },
        membership: async (source) => prepared().membership?.(source),
        withPath: (work) => openPath({ postgres: provided.postgres, open: prepared().open }, work),
      })
    })
  }
}
