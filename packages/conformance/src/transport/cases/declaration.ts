import type { DestinationKind } from '../fixture.ts'
import { concern, type TransportCase } from '../support/define.ts'
import { expectEqual, expectThat } from '../support/expect.ts'

/** The declared capabilities are those that the suite was bound with, so that no case is ruled out by a lie. */
export function declarationCases(
  kinds: Readonly<Partial<Record<DestinationKind, unknown>>>,
): readonly TransportCase[] {
  return concern('declaration', [
    {
      title: 'every kind of destination declares what the suite was bound with',
      async run(fixture, scope) {
        for (const kind of Object.keys(kinds) as DestinationKind[]) {
          const target = await fixture.createDestination(kind)
          const transport = scope.use(fixture.connect())
          expectEqual(
            transport.capabilitiesOf(target.source),
            kinds[kind],
            `capabilities of a ${kind} source`,
          )
        }
      },
    },
    {
      title: 'declared limits agree with the declared abilities',
      async run(fixture, scope) {
        const target = await fixture.createDestination('plain')
        const transport = scope.use(fixture.connect())
        const declared = transport.capabilitiesOf(target.source)
        expectEqual(
          declared.maxDelayMs > 0,
          declared.delayedDelivery,
          'a longest delay, and delayed delivery',
        )
        expectEqual(
          declared.maxBatchMessages > 1,
          declared.batchPublish,
          'more than one message a batch, and batches',
        )
        expectThat(declared.maxMessageBytes > 0, 'expected a size limit above zero')
        expectThat(
          declared.maxBatchBytes >= declared.maxMessageBytes,
          'expected a batch to have room for the largest message',
        )
        expectThat(transport.system !== '', 'expected the name of a messaging system')
      },
    },
  ])
}
