import { describe, expect, it } from '@jest/globals'
import fc from 'fast-check'
import { SuspectGate, type Axis, type Lease } from '../src/index.ts'

const lease = (sequence: number, generation = 1): Lease => ({
  id: `id-${String(sequence)}`,
  sequence: String(sequence),
  owner: 'w',
  generation: String(generation),
})

/** What a lease call does with the answer of the gate. */
function call(
  gate: SuspectGate,
  given: {
    readonly claimant: string
    readonly axis?: Axis
    readonly leases?: readonly Lease[]
    readonly suspects?: boolean
  },
  nowMs: number,
): string {
  const decision = gate.ask(given.claimant, nowMs)
  if (decision === 'closed') return decision
  gate.granted(
    {
      decision,
      claimant: given.claimant,
      axis: given.axis ?? 'inbox',
      leases: given.leases ?? [],
      untilMs: nowMs + 1000,
      suspectsWaiting: given.suspects ?? false,
    },
    nowMs,
  )
  return decision
}

describe('the gate for suspects', () => {
  it('lets ordinary leases through while nobody has seen a suspect', () => {
    const gate = new SuspectGate()
    expect(call(gate, { claimant: 'a', leases: [lease(1)] }, 0)).toBe('shared')
    expect(call(gate, { claimant: 'b', leases: [lease(2)] }, 0)).toBe('shared')
    expect(gate.heldCount).toBe(2)
  })

  it('closes for everybody once a suspect waits, until the held leases of both axes have ended', () => {
    const gate = new SuspectGate()
    call(gate, { claimant: 'b', axis: 'outbox', leases: [lease(7)] }, 0)
    call(gate, { claimant: 'a', suspects: true }, 0)
    expect(call(gate, { claimant: 'a' }, 1)).toBe('closed')
    expect(call(gate, { claimant: 'b' }, 1)).toBe('closed')
    expect(gate.ended('outbox', [lease(7)])).toBe(true)
    expect(call(gate, { claimant: 'b' }, 2)).toBe('closed')
    expect(call(gate, { claimant: 'a', leases: [lease(1)] }, 2)).toBe('suspect')
  })

  it('gives nothing while a suspect runs, and opens when it has ended', () => {
    const gate = new SuspectGate()
    call(gate, { claimant: 'a', suspects: true }, 0)
    expect(call(gate, { claimant: 'a', leases: [lease(1)] }, 1)).toBe('suspect')
    expect(call(gate, { claimant: 'a' }, 2)).toBe('closed')
    expect(call(gate, { claimant: 'b' }, 2)).toBe('closed')
    expect(gate.ended('inbox', [lease(1)])).toBe(true)
    expect(call(gate, { claimant: 'b' }, 3)).toBe('shared')
  })

  it('waits for lease calls that are under way, not only for leases', () => {
    const gate = new SuspectGate()
    expect(gate.ask('b', 0)).toBe('shared')
    call(gate, { claimant: 'a', suspects: true }, 0)
    expect(gate.ask('a', 1)).toBe('closed')
    gate.granted(
      { decision: 'shared', claimant: 'b', axis: 'inbox', leases: [], untilMs: 0, suspectsWaiting: false },
      1,
    )
    expect(gate.ask('a', 2)).toBe('suspect')
  })

  it('counts a lease as ended when it has expired here, and not when another generation ends', () => {
    const gate = new SuspectGate()
    call(gate, { claimant: 'b', leases: [lease(1, 5)] }, 0)
    call(gate, { claimant: 'a', suspects: true }, 0)
    expect(gate.ended('inbox', [lease(1, 4)])).toBe(false)
    expect(call(gate, { claimant: 'a' }, 900)).toBe('closed')
    gate.renewed('inbox', [lease(1, 5)], 1500)
    expect(call(gate, { claimant: 'a' }, 1400)).toBe('closed')
    expect(call(gate, { claimant: 'a' }, 1500)).toBe('suspect')
  })

  it('forgets a claim whose processor does not ask again', () => {
    const gate = new SuspectGate({ claimTtlMs: 100 })
    call(gate, { claimant: 'a', suspects: true }, 0)
    expect(call(gate, { claimant: 'b' }, 100)).toBe('closed')
    expect(call(gate, { claimant: 'b' }, 101)).toBe('shared')
  })

  it('resumes ordinary leasing for a while when a held lease does not end', () => {
    const gate = new SuspectGate({ claimTtlMs: 10_000, patienceMs: 500 })
    const held = lease(1)
    call(gate, { claimant: 'b', leases: [held] }, 0)
    call(gate, { claimant: 'a', suspects: true }, 0)
    gate.renewed('inbox', [held], 100_000)
    expect(call(gate, { claimant: 'a', suspects: true }, 499)).toBe('closed')
    expect(call(gate, { claimant: 'a', suspects: true }, 500)).toBe('shared')
    expect(call(gate, { claimant: 'a', suspects: true }, 900)).toBe('shared')
    expect(call(gate, { claimant: 'a', suspects: true }, 1000)).toBe('shared')
    expect(call(gate, { claimant: 'a' }, 1001)).toBe('closed')
  })

  it('opens again when the suspect was gone', () => {
    const gate = new SuspectGate()
    call(gate, { claimant: 'a', suspects: true }, 0)
    expect(call(gate, { claimant: 'a' }, 1)).toBe('suspect')
    expect(call(gate, { claimant: 'b' }, 2)).toBe('shared')
  })

  it('never has a suspect beside another lease, whatever happens in which order', () => {
    const step = fc.record({
      claimant: fc.constantFrom('a', 'b', 'c'),
      suspects: fc.boolean(),
      ends: fc.boolean(),
      waitMs: fc.integer({ min: 0, max: 1500 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const gate = new SuspectGate()
        let nowMs = 0
        let next = 0
        let running: { readonly lease: Lease; readonly suspect: boolean; readonly untilMs: number }[] = []
        for (const { claimant, suspects, ends, waitMs } of steps) {
          nowMs += waitMs
          running = running.filter((held) => held.untilMs > nowMs)
          if (ends && running.length > 0) {
            gate.ended('inbox', [running[0]?.lease ?? lease(0)])
            running.shift()
          }
          const fresh = lease(++next)
          const decision = call(gate, { claimant, leases: [fresh], suspects }, nowMs)
          if (decision === 'closed') continue
          running.push({ lease: fresh, suspect: decision === 'suspect', untilMs: nowMs + 1000 })
          expect(running.length === 1 || running.every((held) => !held.suspect)).toBe(true)
        }
      }),
    )
  })
})
