import type { Clock, MessageStore, Timer } from '@litebus/core'
import type { HeldLeases, HeldWork } from './held-work.ts'
import type { TroubleLog } from './trouble-log.ts'

/** Renews what is held and finds out what is lost. */
export interface Heartbeat {
  /** Beats while anything is held. */
  ensureBeating(): void
  /** Ends all beats. */
  stop(): void
}

/** What a heartbeat works with. */
export interface HeartbeatOptions {
  /** The store. */
  readonly store: Pick<MessageStore, 'renew'>
  /** What is held. */
  readonly held: HeldLeases
  /** Interval in milliseconds. */
  readonly heartbeatMs: number
  /** Duration of a lease in milliseconds. */
  readonly leaseMs: number
  /** Time. */
  readonly clock: Clock
  /** Where trouble is logged. */
  readonly trouble: TroubleLog
  /** Called once for each row whose lease is lost, or can no longer be believed in. */
  readonly onLost: (work: HeldWork) => void
}

/** One statement renews every held lease, those of queued rows included; a stalled one delays no verdict. */
export function createHeartbeat(options: HeartbeatOptions): Heartbeat {
  const { store, held, heartbeatMs, leaseMs, clock, trouble, onLost } = options
  let timer: Timer | undefined
  let renewing = false
  let stopped = false

  const beat = (): void => {
    timer = undefined
    expireLocally()
    if (!renewing) void renew()
    ensureBeating()
  }
  /** The store may be out of reach: what cannot be renewed in time is lost without its word. */
  const expireLocally = (): void => {
    const now = clock.monotonic()
    for (const work of held.all()) if (!work.lost && work.deadline <= now) lose(work)
  }
  const renew = async (): Promise<void> => {
    const works = held.all().filter((work) => !work.lost)
    if (works.length === 0) return
    renewing = true
    const deadline = clock.monotonic() + leaseMs
    try {
      const results = await store.renew(
        works.map((work) => work.envelope.lease),
        leaseMs,
      )
      trouble.recovered('renewal')
      works.forEach((work, index) => {
        if (results[index] === 'renewed') work.deadline = deadline
        else if (results[index] === 'lost') lose(work)
      })
    } catch (error) {
      trouble.failed('renewal', error)
    } finally {
      renewing = false
    }
  }
  /** A row that is being settled disappears under the renewal; the settle has the last word about it. */
  const lose = (work: HeldWork): void => {
    if (work.lost || work.stage === 'settling' || work.stage === 'done') return
    work.lost = true
    onLost(work)
  }
  const ensureBeating = (): void => {
    if (timer !== undefined || stopped || held.size === 0) return
    timer = clock.schedule(heartbeatMs, beat)
  }
  return {
    ensureBeating,
    stop() {
      stopped = true
      timer?.cancel()
      timer = undefined
    },
  }
}
