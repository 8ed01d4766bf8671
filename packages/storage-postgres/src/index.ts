export {
  type PostgresPool,
  type PostgresPoolClient,
  type PostgresQuery,
  type PostgresResult,
  type PostgresTransaction,
} from './database/postgres-client.ts'
export { type PostgresConnection, type PostgresStorageOptions } from './options.ts'
export { postgresStorage, type PostgresStorage } from './postgres-storage.ts'
export { type SchemaManager, type SchemaValidation } from './schema/schema-manager.ts'
