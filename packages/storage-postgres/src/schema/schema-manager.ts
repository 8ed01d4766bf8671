import { StoreUnavailableError, type SchemaInfo } from '@litebus/core'
import type { Database, Run } from '../database/database.ts'
import { encodingFault, readEncoding } from './encoding.ts'
import { compareManifests, readManifest } from './manifest.ts'
import { expectedVersion, migrations } from './migrations.ts'
import { literal, type Names } from './names.ts'

/** What a validation found. */
export interface SchemaValidation {
  /** True when the installed schema is exactly the one that this package works with. */
  readonly valid: boolean
  /** Every difference, one sentence each, with the name of the object. */
  readonly faults: readonly string[]
}

/** Installs, checks and explains the schema of one installation. */
export interface SchemaManager {
  /**
   * Brings the schema to the expected version; safe when any number of instances start at once.
   *
   * @throws StoreUnavailableError when the schema is newer, its tables are not of this package, or the database is not in
   * UTF-8; nothing is touched.
   */
  migrate(): Promise<SchemaInfo>
  /** Compares what is installed with what was migrated, object by object. */
  validate(): Promise<SchemaValidation>
  /** The SQL that `migrate` would run now, for review or for another tool. */
  sql(): Promise<string>
  /** The SQL of a fresh installation, without asking the database. */
  installationSql(): string
  /** Installed and expected version. */
  version(): Promise<SchemaInfo>
}

/** Builds the schema manager of an installation. */
export function createSchemaManager(database: Database, names: Names): SchemaManager {
  const read: Run = (text, values) => database.read('read the schema', text, values)
  const version = async (): Promise<SchemaInfo> => ({
    installed: await installedVersion(read, names),
    expected: expectedVersion,
  })
  return {
    version,
    migrate: () =>
      database.transaction('migrate the schema', async (run) => {
        await run('select pg_advisory_xact_lock($1::bigint)', [names.migrationLock])
        await refuseEncoding(run)
        const installed = await installedVersion(run, names)
        refuseForeign(installed, await readManifest(run, names), names)
        for (const text of statementsFrom(installed, names)) await run(text, [])
        await keepManifest(run, names)
        return { installed: expectedVersion, expected: expectedVersion }
      }),
    async validate() {
      const installed = await installedVersion(read, names)
      if (installed !== expectedVersion) {
        return { valid: false, faults: [versionFault(installed, names)] }
      }
      const [row] = await read(`select manifest from ${names.migration} where version = $1::integer`, [
        String(expectedVersion),
      ])
      if (row?.[0] == null) {
        return {
          valid: false,
          faults: ['the manifest is missing: migrate once to record what was installed by hand'],
        }
      }
      const kept = JSON.parse(row[0]) as Record<string, string>
      const faults = compareManifests(new Map(Object.entries(kept)), await readManifest(read, names))
      return { valid: faults.length === 0, faults }
    },
    async sql() {
      const installed = await installedVersion(read, names)
      return script(statementsFrom(installed, names))
    },
    installationSql: () => script(statementsFrom(0, names)),
  }
}

/** The version that is installed; 0 when there is no migration table. */
export async function installedVersion(run: Run, names: Names): Promise<number> {
  const [there] = await run('select pg_catalog.to_regclass($1::text)::text', [names.migration])
  if (there?.[0] == null) return 0
  const [row] = await run(`select max(version)::text from ${names.migration}`, [])
  return Number(row?.[0] ?? 0)
}

/** Says why an installed version is not the expected one. */
export function versionFault(installed: number, { schemaName }: Names): string {
  if (installed === 0)
    return `expected schema "${schemaName}" of version ${String(expectedVersion)}, found none: migrate first`
  return installed > expectedVersion
    ? `expected schema "${schemaName}" of version ${String(expectedVersion)}, found the newer ${String(installed)}: update this package`
    : `expected schema "${schemaName}" of version ${String(expectedVersion)}, found ${String(installed)}: migrate first`
}

async function refuseEncoding(run: Run): Promise<void> {
  const [row] = await run(`select ${readEncoding}`, [])
  const fault = encodingFault(row?.[0])
  if (fault !== undefined) throw new StoreUnavailableError(fault)
}

function refuseForeign(installed: number, found: ReadonlyMap<string, string>, names: Names): void {
  if (installed > expectedVersion) throw new StoreUnavailableError(versionFault(installed, names))
  const strangers = [...found.keys()].filter(
    (name) => name.startsWith('table ') && !name.endsWith('migration'),
  )
  if (installed === 0 && strangers.length > 0) {
    throw new StoreUnavailableError(
      `expected schema "${names.schemaName}" without tables of these names, found ${strangers.join(', ')}: ` +
        'choose another schema or table prefix',
    )
  }
}

function statementsFrom(installed: number, names: Names): readonly string[] {
  const pending = migrations.filter((migration) => migration.version > installed)
  if (pending.length === 0) return []
  const first =
    installed > 0
      ? []
      : [
          // A role that may not create schemas can still use one that is there.
          `do $litebus$ begin
  if not exists (select 1 from pg_catalog.pg_namespace where nspname = ${literal(names.schemaName)}) then
    create schema ${names.schema};
  end if;
end $litebus$`,
          `create table ${names.migration} (
  version integer primary key,
  name text not null,
  applied_at timestamptz not null default clock_timestamp(),
  manifest text
)`,
        ]
  return [
    ...first,
    ...pending.flatMap((migration) => [
      ...migration.statements(names),
      `insert into ${names.migration} (version, name) values (${String(migration.version)}, ${literal(migration.name)})`,
    ]),
  ]
}

async function keepManifest(run: Run, names: Names): Promise<void> {
  const manifest = JSON.stringify(Object.fromEntries(await readManifest(run, names)))
  await run(`update ${names.migration} set manifest = $1 where version = $2::integer and manifest is null`, [
    manifest,
    String(expectedVersion),
  ])
}

function script(statements: readonly string[]): string {
  return statements.map((text) => `${text};\n`).join('\n')
}
