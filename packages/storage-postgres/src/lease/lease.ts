import {
  assertLeaseRequest,
  claimantOf,
  type LeaseBatch,
  type LeasedEnvelope,
  type LeaseRequest,
  type SuspectGate,
} from '@litebus/core'
import type { LeaseContext } from './lease-context.ts'
import { leaseLanes, type LeasedLanes } from './lease-lanes.ts'
import { leaseReady, type LaneLook } from './lease-ready.ts'
import { leaseSuspect } from './lease-suspect.ts'
import { orNothing } from './or-nothing.ts'
import type { ScanState, ScanStates } from './scan-state.ts'
import { sweepWhenDue } from './sweep.ts'

/** Lanes are not looked for again within this time while other rows fill the limit and there were none. */
const emptyLanesRestMs = 20

/** What the leasing of one store remembers. */
export interface Leasing {
  readonly context: LeaseContext
  readonly gate: SuspectGate
  readonly states: ScanStates
  turn: number
  lanesSeenMs: number
  lanesExist: boolean
}

interface Shared {
  readonly batch: LeaseBatch
  readonly suspects: boolean
}

const nothing: LeaseBatch = Object.freeze({ envelopes: [], parked: 0, more: false })

/** Leases under the gate: ordinary messages, or one suspect while nothing else is held. */
export async function lease(leasing: Leasing, request: LeaseRequest): Promise<LeaseBatch> {
  assertLeaseRequest(request)
  request.signal?.throwIfAborted()
  const { gate, context } = leasing
  const claimant = claimantOf(context.axis.axis, request)
  const decision = gate.ask(claimant, context.monotonic())
  if (decision === 'closed') return nothing
  if (decision === 'suspect') return underGate(leasing, request, claimant)
  let shared: Shared = { batch: nothing, suspects: false }
  try {
    shared = await leaseShared(leasing, request)
  } finally {
    grant(leasing, request, {
      decision,
      claimant,
      envelopes: shared.batch.envelopes,
      suspects: shared.suspects,
    })
  }
  const { batch, suspects } = shared
  if (!suspects || batch.envelopes.length > 0) return batch
  if (gate.ask(claimant, context.monotonic()) !== 'suspect') return batch
  const alone = await underGate(leasing, request, claimant)
  return { ...alone, parked: alone.parked + batch.parked }
}

async function underGate(leasing: Leasing, request: LeaseRequest, claimant: string): Promise<LeaseBatch> {
  const state = leasing.states.of(request)
  let envelopes: readonly LeasedEnvelope[] = []
  try {
    envelopes = await leaseSuspect(leasing.context, state, request)
    return { envelopes, parked: 0, more: envelopes.length === 0 }
  } finally {
    grant(leasing, request, { decision: 'suspect', claimant, envelopes, suspects: envelopes.length > 0 })
  }
}

function grant(
  { gate, context }: Leasing,
  request: LeaseRequest,
  given: {
    readonly decision: 'shared' | 'suspect'
    readonly claimant: string
    readonly envelopes: readonly LeasedEnvelope[]
    readonly suspects: boolean
  },
): void {
  const nowMs = context.monotonic()
  gate.granted(
    {
      decision: given.decision,
      claimant: given.claimant,
      axis: context.axis.axis,
      leases: given.envelopes.map((envelope) => envelope.lease),
      untilMs: nowMs + request.leaseMs,
      suspectsWaiting: given.suspects,
    },
    nowMs,
  )
}

async function leaseShared(leasing: Leasing, request: LeaseRequest): Promise<Shared> {
  const { context } = leasing
  const state = leasing.states.of(request)
  await sweepWhenDue(context, state, request)
  leasing.turn += 1
  const lanesFirst = leasing.lanesExist && leasing.turn % 2 === 0
  const first = lanesFirst ? await takeLanes(leasing, request, 0) : undefined
  const look = first === undefined && !leasing.lanesExist ? laneLook(leasing) : 'never'
  const fromLanes = first?.envelopes.length ?? 0
  const ready =
    (await orNothing(takeReady(context, { state, request, look }, fromLanes), fromLanes > 0)) ?? none
  if (ready.lanes !== undefined) sawLanes(leasing, ready.lanes)
  const fromReady = ready.envelopes.length
  const lanes =
    first ??
    (ready.lanes === false
      ? none
      : ((await orNothing(takeLanes(leasing, request, fromReady), fromReady > 0)) ?? none))
  const envelopes =
    lanes.envelopes.length === 0
      ? ready.envelopes
      : ready.envelopes.length === 0
        ? lanes.envelopes
        : [...ready.envelopes, ...lanes.envelopes]
  const waits = [ready.nextDueInMs, lanes.nextDueInMs].filter((wait) => wait !== undefined)
  return {
    suspects: ready.suspects || lanes.suspects,
    batch: {
      envelopes,
      parked: ready.parked + lanes.parked,
      more: envelopes.length >= request.limit,
      ...(waits.length === 0 ? {} : { nextDueInMs: Math.max(0, Math.min(...waits)) }),
    },
  }
}

interface Taken {
  /** Whether there are rows with an ordering key, where it was looked for. */
  readonly lanes: boolean | undefined
  readonly envelopes: readonly LeasedEnvelope[]
  readonly parked: number
  readonly nextDueInMs: number | undefined
  readonly suspects: boolean
}

const none: Taken & LeasedLanes = {
  envelopes: [],
  parked: 0,
  nextDueInMs: undefined,
  suspects: false,
  lanes: undefined,
  stopped: true,
  any: true,
}

/** Leases that are full of other rows look for lanes only now and then. */
function laneLook({ context, lanesSeenMs }: Leasing): LaneLook {
  return context.monotonic() - lanesSeenMs < emptyLanesRestMs ? 'withRoom' : 'always'
}

function sawLanes(leasing: Leasing, exist: boolean): void {
  leasing.lanesExist = exist
  leasing.lanesSeenMs = leasing.context.monotonic()
}

async function takeReady(
  context: LeaseContext,
  {
    state,
    request,
    look,
  }: { readonly state: ScanState; readonly request: LeaseRequest; readonly look: LaneLook },
  taken: number,
): Promise<Taken> {
  if (taken >= request.limit) return none
  const limit = request.limit - taken
  const { envelopes, header } = await leaseReady(context, state, { ...request, limit, lanes: look })
  return {
    envelopes,
    lanes: header.lanes ?? undefined,
    parked: header.parked ?? 0,
    suspects: header.suspect != null,
    nextDueInMs: header.nextDue == null ? undefined : (header.nextDue - (header.now ?? 0)) / 1000,
  }
}

async function takeLanes(leasing: Leasing, request: LeaseRequest, taken: number): Promise<LeasedLanes> {
  if (taken >= request.limit) return none
  const lanes = await leaseLanes(leasing.context, leasing.states.of(request).walk, {
    ...request,
    limit: request.limit - taken,
  })
  sawLanes(leasing, lanes.any)
  return lanes
}
