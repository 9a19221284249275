export {
  inTransaction,
  postgresStore,
  receivedTable,
  recordOnce,
  type PooledClient,
  type Queryable,
} from './postgres-store.ts';
