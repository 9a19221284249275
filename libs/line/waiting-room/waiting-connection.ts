import { BY_KEY, inTransaction, isOutage, sqlStateOf, whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import type { SumChanges } from './sum-changes.ts';

/** The services that have a waiting room, as their tables begin. */
export type WaitingService = 'deliverer' | 'router';

/** Session settings of its connections. A row must survive a crash of Postgres before its message is acknowledged. */
export const WAITING_SETTINGS = { ...BY_KEY, synchronous_commit: 'on' };

/** Limit for statements that read all rows of a room or an account. */
const LONG_STATEMENT_MS = 120_000;

/** Resolves with the rows of a statement. */
type AskAtLength = <Row extends object>(text: string, values: unknown[]) => Promise<Row[]>;

/** How one process reaches the tables of its service. All of it rejects with `Unavailable` while Postgres is away. */
export type WaitingConnection = {
  service: WaitingService;
  process: string;
  /** Runs a statement that each connection prepares once, by this name. */
  ask: <Row extends object>(name: string, text: string, values: unknown[]) => Promise<Row[]>;
  /** Runs statements that may take long, in one transaction. */
  atLength: <T>(work: (ask: AskAtLength) => Promise<T>) => Promise<T>;
  sums: SumChanges;
};

/** Connections; their owner closes them. */
export type WaitingPostgres = Pick<Postgres, 'query' | 'connect'>;

export function connectionOf(
  postgres: WaitingPostgres,
  of: Omit<WaitingConnection, 'ask' | 'atLength'>,
): WaitingConnection {
  return {
    ...of,
    ask: <Row extends object>(name: string, text: string, values: unknown[]) =>
      whenAvailable(
        postgres,
        async () => (await postgres.query<Row>({ name: `${of.service} ${name}`, text, values })).rows,
        isStoreAway,
      ),
    atLength: (work) =>
      whenAvailable(
        postgres,
        () =>
          inTransaction(postgres, async (client) => {
            await client.query(`set local statement_timeout = ${LONG_STATEMENT_MS}`);
            return work(async <Row extends object>(text: string, values: unknown[]) => {
              const query = { text, values, query_timeout: LONG_STATEMENT_MS };
              return (await client.query<Row>(query)).rows;
            });
          }),
        isStoreAway,
      ),
  };
}

/** A missing or forbidden table or schema (classes 42, 3F) counts as an outage: a migration will fix it. */
function isStoreAway(error: unknown): boolean {
  return isOutage(error) || /^(42|3F)/.test(sqlStateOf(error) ?? '');
}

/** The text of a room, or of a row's key: Postgres writes guids with hyphens. */
export const hexOf = (uuid: string): string => `encode(uuid_send(${uuid}), 'hex')`;
