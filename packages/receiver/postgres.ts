export {
  inTransaction,
  postgresStore,
  receivedTable,
  recordOnce,
  type KeepOptions,
  type PooledClient,
  type Queryable,
} from './postgres-store.ts';
