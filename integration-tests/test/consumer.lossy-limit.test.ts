import { expect, it } from '@jest/globals'
import type { Transport } from '@litebus/core'
import { openConsumer } from '../consumer/open-consumer.ts'
import { openIngress } from '../ingress/open-ingress.ts'
import { describeTransports } from '../transports/describe-transports.ts'
import { testedTransports } from '../transports/tested-transports.ts'

/** The same source, as if nobody had declared where its dead letters go. */
function withoutDeadLetter(transport: Transport): Transport {
  return {
    ...transport,
    capabilitiesOf: (name) => ({ ...transport.capabilitiesOf(name), nativeDeadLetter: false }),
  }
}

await describeTransports(
  'a source with a delivery limit',
  ({ profile, withPath }) => {
    const { limited } = profile.kinds

    it('declares it, and is refused without a dead-letter target unless that is wanted', () =>
      withPath(async (path) => {
        expect([limited?.deliveryLimit, profile.kinds.plain.deliveryLimit]).toEqual([3, undefined])
        const source = await path.fixture.createDestination('limited')
        const lossy = { source, wrap: withoutDeadLetter }
        const names = /nativeDeadLetter.*deliveryLimit of 3.*allowLossyLimit/
        await expect(openConsumer(path, lossy)).rejects.toThrow(names)
        await expect(openIngress(path, lossy)).rejects.toThrow(names)
        for (const options of [{ source }, { ...lossy, allowLossyLimit: true }]) {
          expect((await openConsumer(path, options)).consumer.state).toBe('idle')
          expect((await openIngress(path, options)).ingress.state).toBe('idle')
        }
      }))
  },
  testedTransports.filter(({ profile }) => profile.kinds.limited !== undefined),
)
