import type { Run } from '../database/database.ts'
import type { Names } from './names.ts'

/**
 * Describes every object of an installation by name, from the catalog. The migration keeps it, so that a later
 * validation finds each difference without knowing what made it.
 */
export async function readManifest(run: Run, names: Names): Promise<ReadonlyMap<string, string>> {
  const rows = await run(manifestSql, [names.schemaName, names.prefix])
  return new Map(rows.map(([name, definition]) => [String(name), String(definition)]))
}

/** Names every difference between what was installed and what is there. */
export function compareManifests(
  expected: ReadonlyMap<string, string>,
  found: ReadonlyMap<string, string>,
): readonly string[] {
  const faults: string[] = []
  for (const [name, definition] of expected) {
    const actual = found.get(name)
    if (actual === undefined) faults.push(`${name} is missing`)
    else if (actual !== definition) faults.push(`${name}: expected ${definition}, found ${actual}`)
  }
  for (const name of found.keys()) if (!expected.has(name)) faults.push(`${name} is not of this schema`)
  return faults
}

const ownNames = `left(c.relname, length($2)) = $2 and substr(c.relname, length($2) + 1) ~
  '^((inbox|outbox)_(message|queue|done|dead|lane|sequence|generation)|sleeper|migration|dedup|dedup_generation)$'`

const manifestSql = `
with own as (
  select c.* from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
  where n.nspname = $1 and c.relkind in ('r', 'p', 'S') and ${ownNames}
)
select 'table ' || c.relname, c.relpersistence::text || ' ' || coalesce(array_to_string(c.reloptions, ', '), '')
from own c where c.relkind <> 'S'
union all
select 'sequence ' || c.relname, s.seqincrement || ' cache ' || s.seqcache || case when s.seqcycle then ' cycle' else '' end
from own c join pg_catalog.pg_sequence s on s.seqrelid = c.oid
union all
select 'column ' || c.relname || '.' || a.attname, pg_catalog.format_type(a.atttypid, a.atttypmod)
  || case when a.attnotnull then ' not null' else '' end
  || coalesce(' default ' || pg_catalog.pg_get_expr(d.adbin, d.adrelid), '')
  || coalesce(' collate ' || (select o.collname from pg_catalog.pg_collation o
    where o.oid = a.attcollation and o.collname <> 'default'), '')
from own c join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
  left join pg_catalog.pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum
where c.relkind <> 'S'
union all
select 'index ' || i.relname, pg_catalog.pg_get_indexdef(x.indexrelid)
  || case when x.indisvalid then '' else ' (invalid)' end
from own c join pg_catalog.pg_index x on x.indrelid = c.oid join pg_catalog.pg_class i on i.oid = x.indexrelid
union all
select 'constraint ' || c.relname || '.' || k.conname, pg_catalog.pg_get_constraintdef(k.oid)
from own c join pg_catalog.pg_constraint k on k.conrelid = c.oid where k.contype <> 'n'
union all
select 'trigger ' || c.relname || '.' || t.tgname, pg_catalog.pg_get_triggerdef(t.oid)
from own c join pg_catalog.pg_trigger t on t.tgrelid = c.oid where not t.tgisinternal
union all
select 'function ' || p.proname || '(' || pg_catalog.pg_get_function_identity_arguments(p.oid) || ')',
  md5(p.prosrc || coalesce(array_to_string(p.proconfig, ','), ''))
from pg_catalog.pg_proc p join pg_catalog.pg_namespace n on n.oid = p.pronamespace
where n.nspname = $1 and left(p.proname, length($2)) = $2 and substr(p.proname, length($2) + 1) ~
  '^(inbox|outbox)_(append|append_one|append_one_new|append_one_full|append_new|append_waiting|lease_ready|lease_lanes|lease_suspect|sweep|settle_succeeded|settle_failed|release|renew)$'
order by 1`
