export {
  inTransaction,
  postgresStore,
  receivedTable,
  recordOnce,
  type PostgresPool,
  type Queryable,
} from './postgres-store.ts';
