import type { TransportProfile } from '@litebus/conformance'
import { describeWithServices } from '../services/describe-with-services.ts'
import { openPath, type MessagePath } from './message-path.ts'
import { testedTransports } from './tested-transports.ts'

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
  for (const { name, services, profile, open } of testedTransports) {
    await describeWithServices(`${title} (${name})`, ['postgres', ...services], (provided) => {
      define({
        profile,
        withPath: (work) =>
          openPath({ postgres: provided.postgres, open: (scope) => open(scope, provided) }, work),
      })
    })
  }
}
