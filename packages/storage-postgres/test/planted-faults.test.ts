import { expect, it } from '@jest/globals'
import { storeConformance, type BoundCase } from '@litebus/conformance'
import pg from 'pg'
import { databaseUrl, postgresBinding } from './postgres-fixture.ts'

const lanes = /pg_try_advisory_xact_lock\(-?\d+, hashtext\(u\.lane\) & \d+\)/u
const locking = /where q\.seq = any \(array\(select pick\.seq from pick\)\)/u

/** The checker with few keys, on a database whose function was changed by `plant`. */
function checkerWith(plant: (definition: string) => string): BoundCase {
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
  const found = cases.find(({ title }) => title.includes('holds with few keys, late commits'))
  if (found === undefined) throw new Error('expected the checker in the suite')
  return found
}

it('the checker notices a lease of ordering keys that looks and locks under one snapshot', async () => {
  const checker = checkerWith((definition) => {
    expect(definition).toMatch(lanes)
    expect(definition).toMatch(locking)
    // Without the mutex, and with a moment between look and lock that busy servers have by themselves.
    return definition.replace(lanes, 'true').replace(locking, '$& and (select pg_sleep(0.002) is not null)')
  })
  await expect(checker.run()).rejects.toThrow(/has a run while|before/u)
}, 90_000)
