import { bindSuite, type BoundSuite, type SuiteBinding } from '../frame/suite.ts'
import { publishingCases } from './cases/batch-outcomes.ts'
import { cancelledConsumerCases } from './cases/cancelled-consumer.ts'
import { declarationCases } from './cases/declaration.ts'
import { delayCases } from './cases/delay.ts'
import { foreignCases } from './cases/foreign-publisher.ts'
import { inFlightCases } from './cases/in-flight.ts'
import { refusalCases } from './cases/missing-and-closed.ts'
import { orderCases } from './cases/ordering.ts'
import { oversizeCases } from './cases/oversize.ts'
import { pauseCases } from './cases/pause-resume.ts'
import { reconnectCases } from './cases/reconnect.ts'
import { redeliveryCases } from './cases/redelivery.ts'
import { roundTripCases } from './cases/round-trip.ts'
import { settleOnceCases } from './cases/settle-once.ts'
import { shutdownCases } from './cases/shutdown.ts'
import { staleSettleCases } from './cases/stale-settle.ts'
import { unroutableCases } from './cases/unroutable.ts'
import type { TransportFixture, TransportProfile } from './fixture.ts'
import { stressCases } from './cases/stress.ts'
import { stressed } from './stress.ts'

/** How a transport joins the suite. */
export interface TransportBinding extends Omit<
  SuiteBinding<TransportFixture, TransportProfile>,
  'capabilities'
> {
  /** What the transport declares, by kind of destination. */
  readonly profile: TransportProfile
  /** Runs every case several times at once, and adds the long ones. @defaultValue false */
  readonly stress?: boolean
}

/** Binds the transport suite: every promise of the transport port that the declaration does not rule out. */
export function transportConformance(binding: TransportBinding): BoundSuite {
  const cases = [
    ...declarationCases(binding.profile.kinds),
    ...roundTripCases,
    ...publishingCases,
    ...unroutableCases,
    ...oversizeCases,
    ...redeliveryCases,
    ...settleOnceCases,
    ...staleSettleCases,
    ...pauseCases,
    ...orderCases,
    ...delayCases,
    ...inFlightCases,
    ...shutdownCases,
    ...reconnectCases,
    ...cancelledConsumerCases,
    ...refusalCases,
    ...foreignCases,
  ]
  const rest = { adapter: binding.adapter, capabilities: binding.profile, open: binding.open }
  const bound = bindSuite('transport', cases, rest)
  if (binding.stress !== true) return bound
  const long = bindSuite('transport', stressCases, rest)
  return { ...bound, cases: [...bound.cases.map(stressed), ...long.cases] }
}
