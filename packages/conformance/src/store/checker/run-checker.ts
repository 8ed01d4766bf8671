import { AssertionError } from 'node:assert/strict'
import type { LeasedEnvelope, MessageStore, SettleOutcome } from '@litebus/core'
import type { StoreFixture } from '../store-fixture.ts'
import { aMessage, aRequest } from '../support.ts'
import { Ledger, type Entry } from './ledger.ts'
import { seededRandom } from './random.ts'

/** What one run of the checker does. */
export interface CheckerPlan {
  readonly keys: number
  readonly workers: number
  readonly producers: number
  readonly leaseMs: number
  /**
   * Most committed messages that wait. Behind a long backlog a late commit is never at the head of its key, where the
   * races are; with a short one no run is ever long.
   */
  readonly backlog: number
  /** Longest time that half of the handler runs take, in milliseconds. */
  readonly handlingMs: number
  /** Workers abandon what they hold, so that leases expire. */
  readonly deaths: boolean
  readonly durationMs: number
  readonly seed: number
}

interface Checker {
  readonly fixture: StoreFixture
  readonly plan: CheckerPlan
  readonly ledger: Ledger
  readonly random: (below: number) => number
  /** False once the time is up. */
  readonly isProducing: () => boolean
}

/** Drives producers and workers against a store and fails with what must never be. */
export async function runChecker(fixture: StoreFixture, plan: CheckerPlan): Promise<void> {
  let producing = true
  const checker: Checker = {
    fixture,
    plan,
    ledger: new Ledger(),
    random: seededRandom(plan.seed),
    isProducing: () => producing,
  }
  const stores = await Promise.all(
    Array.from({ length: plan.workers }, async (_, index) =>
      index === 0 ? fixture.outbox : (await fixture.another()).outbox,
    ),
  )
  const producers = Array.from({ length: plan.producers }, () => produce(checker))
  const workers = stores.map((store, index) => work(checker, store, `w${String(index)}`))
  const ended = Promise.allSettled([...producers, ...workers])
  // By the time of the machine as well: timers of a busy one are late, and minutes of that add up.
  const endsAtMs = performance.now() + plan.durationMs
  for (let passedMs = 0; passedMs < plan.durationMs && performance.now() < endsAtMs; passedMs += 10) {
    if (checker.ledger.faults.length > 0) break
    await fixture.pass(10)
  }
  producing = false
  // All of them, also when one has failed: what goes on would meet a fixture that is gone.
  const failed = (await ended).find((one) => one.status === 'rejected')
  if (failed !== undefined && ledgerIsClean(checker)) throw failed.reason
  report(checker, await fixture.outbox.statusCounts())
}

/** What the ledger saw says more than an error that followed from it. */
function ledgerIsClean({ ledger }: Checker): boolean {
  return ledger.faults.length === 0
}

function report(
  { ledger, plan }: Checker,
  counts: { readonly awaiting: number; readonly leased: number },
): void {
  const faults = [...ledger.faults]
  if (ledger.outstanding > 0) faults.push(`${String(ledger.outstanding)} messages never came`)
  if (counts.awaiting + counts.leased > 0) faults.push('rows are left in the queue')
  if (ledger.handled < plan.durationMs / 100)
    faults.push(`only ${String(ledger.handled)} messages were handled`)
  if (faults.length === 0) return
  throw new AssertionError({
    message: `seed ${String(plan.seed)}, ${String(ledger.handled)} handled: ${faults.join('; ')}`,
  })
}

async function produce(checker: Checker): Promise<void> {
  const { fixture, ledger, random, plan } = checker
  while (checker.isProducing()) {
    const transaction = await fixture.begin()
    const entries: Entry[] = []
    for (let count = 1 + random(4); count > 0; count -= 1) {
      const key = `k${String(random(plan.keys))}`
      const message = aMessage({ orderingKey: key })
      entries.push(ledger.started(message.id, key))
      await fixture.outbox.append([message], transaction)
      if (random(3) === 0) await fixture.pass(random(6))
    }
    const commits = random(20) !== 0
    await (commits ? transaction.commit() : transaction.rollback())
    ledger.ended(entries, commits)
    while (checker.isProducing() && ledger.outstanding > plan.backlog) await fixture.pass(1)
    await fixture.pass(random(3))
  }
}

async function work(checker: Checker, store: MessageStore, owner: string): Promise<void> {
  const { fixture, ledger, random, plan } = checker
  for (let idle = 0; checker.isProducing() || (ledger.outstanding > 0 && idle < 2000);) {
    const startedMs = fixture.now()
    const { envelopes } = await store.lease(
      aRequest({ owner, limit: 50, leaseMs: plan.leaseMs, maxAttempts: 1_000_000, maxPerKey: 1 + random(4) }),
    )
    idle = envelopes.length === 0 ? idle + 1 : 0
    if (envelopes.length === 0) await fixture.pass(2)
    const dies = plan.deaths && random(10) === 0
    await Promise.all(
      runsOf(envelopes).map(([key, run]) => handleRun(checker, store, { owner, key, run, dies, startedMs })),
    )
  }
}

function runsOf(envelopes: readonly LeasedEnvelope[]): (readonly [string, readonly LeasedEnvelope[]])[] {
  const runs = new Map<string, LeasedEnvelope[]>()
  for (const envelope of envelopes) {
    const key = envelope.message.orderingKey ?? ''
    const run = runs.get(key)
    if (run === undefined) runs.set(key, [envelope])
    else run.push(envelope)
  }
  return [...runs]
}

interface KeyRun {
  readonly owner: string
  readonly key: string
  readonly run: readonly LeasedEnvelope[]
  readonly dies: boolean
  readonly startedMs: number
}

async function handleRun(checker: Checker, store: MessageStore, keyRun: KeyRun): Promise<void> {
  const { fixture, ledger, random, plan } = checker
  const { owner, key, run, dies, startedMs } = keyRun
  const mine = { worker: owner, key, expiresAtMs: startedMs + plan.leaseMs }
  ledger.runStarted(mine, fixture.now())
  const outcomes: SettleOutcome[] = []
  const deadline = startedMs + plan.leaseMs * 0.8
  let failed: LeasedEnvelope | undefined
  for (const envelope of run) {
    if (fixture.now() > deadline) break
    ledger.handling(envelope.message.id, mine, fixture.now())
    if (dies) break
    if (random(2) === 0) await fixture.pass(random(plan.handlingMs))
    if (random(6) === 0) {
      failed = envelope
      ledger.retried(envelope.message.id)
      break
    }
    ledger.done(envelope.message.id)
    outcomes.push({ kind: 'succeeded', lease: envelope.lease })
  }
  if (dies) return
  if (failed !== undefined) {
    outcomes.push({ kind: 'retry', lease: failed.lease, delayMs: random(20), category: 'UNKNOWN', code: 'R' })
  }
  ledger.runEnded(mine)
  const rest = run.slice(outcomes.length).map((envelope) => envelope.lease)
  // What comes later goes back first: once the failed one is due again, the whole run may be leased at once.
  if (rest.length > 0) await store.release(rest)
  if (outcomes.length > 0) await store.settle(outcomes)
}
