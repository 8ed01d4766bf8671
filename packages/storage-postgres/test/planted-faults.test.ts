import { expect, it } from '@jest/globals'
import { storeConformance, type BoundCase } from '@litebus/conformance'
import pg from 'pg'
import { databaseUrl, postgresBinding } from './postgres-fixture.ts'

const lanes = /pg_try_advisory_xact_lock\(-?\d+, hashtext\(u\.lane\) & \d+\)/u
const locking = /where q\.seq = any \(array\(select pick\.seq from pick\)\)/u

/** A case of the suite, on a database whose function was changed by `plant`. */
function caseWith(titlePart: string, plant: (definition: string) => string): BoundCase {
  const binding = postgresBinding('postgres with a planted fault')
  const { cases } = storeConformance(
    {
      ...binding,
      open: async (scope) => {
        const fixture = await binding.open(scope)
        const client = new pg.Client({ connectionString: databaseUrl() })
        await client.connect()
        scope.defer(() => client.end())
        const { rows } = await client.query<{ definition: string }>(
          `select pg_get_functiondef(p.oid) as definition from pg_proc p where p.proname = 'outbox_lease_lanes'`,
        )
        for (const { definition } of rows) await client.query(plant(definition))
        return fixture
      },
    },
    { checkerMs: 45_000 },
  )
  const found = cases.find(({ title }) => title.includes(titlePart))
  if (found === undefined) throw new Error(`expected a case in the suite, found none with ${titlePart}`)
  return found
}

it('the checker notices a lease of ordering keys that looks and locks under one snapshot', async () => {
  const checker = caseWith('holds with few keys, late commits', (definition) => {
    expect(definition).toMatch(lanes)
    expect(definition).toMatch(locking)
    // Without the mutex, and with a moment between look and lock that busy servers have by themselves.
    return definition.replace(lanes, 'true').replace(locking, '$& and (select pg_sleep(0.002) is not null)')
  })
  await expect(checker.run()).rejects.toThrow(/has a run while|before/u)
}, 90_000)

it('the suite notices a position in an ordering key that does not wait for those who write below it', async () => {
  const lateCommit = caseWith('does not skip what commits late', (definition) => {
    expect(definition).toMatch(/t\.pending_xid (?:<=|>) v_xmin/u)
    return definition
      .replaceAll('t.pending_xid <= v_xmin', 'true')
      .replaceAll('t.pending_xid > v_xmin', 'false')
  })
  await expect(lateCommit.run()).rejects.toThrow(/2/u)
})

it('the suite notices that a run behind many late rows is overlooked', async () => {
  const inFlight = caseWith('leaves a key to its run in flight', (definition) => {
    expect(definition).toContain('f.last >= f.run_to')
    return definition.replace('f.last >= f.run_to', 'true')
  })
  await expect(inFlight.run()).rejects.toThrow(/deep-equal/u)
})
