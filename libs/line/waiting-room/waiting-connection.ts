import { BY_KEY, inTransaction, isOutage, sqlStateOf, whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import type { HeldSum } from './waiting-store.ts';

/** Session settings of its connections. A row must survive a crash of Postgres before its message is acknowledged. */
export const WAITING_SETTINGS = { ...BY_KEY, synchronous_commit: 'on' };

/** Limit for statements that read all rows of a room or an account. */
const LONG_STATEMENT_MS = 120_000;

/** Resolves with the rows of a statement. */
type AskAtLength = <Row extends object>(text: string, values: unknown[]) => Promise<Row[]>;

/** How one process reaches the tables. All of it rejects with `Unavailable` while Postgres is away. */
export type WaitingConnection = {
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
        async () => (await postgres.query<Row>({ name: `rooms ${name}`, text, values })).rows,
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
export function isStoreAway(error: unknown): boolean {
  return isOutage(error) || /^(42|3F)/.test(sqlStateOf(error) ?? '');
}

/** The text of a room, or of a row's key: Postgres writes guids with hyphens. */
export const hexOf = (uuid: string): string => `encode(uuid_send(${uuid}), 'hex')`;

/** Counts what this process put and settled for each holder since the changes were last stored. */
export class SumChanges {
  #changes = new Map<string, HeldSum>();

  add(change: HeldSum): void {
    const { rows, bytes } = this.#changes.get(change.holder) ?? { rows: 0, bytes: 0 };
    this.#changes.set(change.holder, { ...change, rows: change.rows + rows, bytes: change.bytes + bytes });
  }

  /** Hands the changes to `write`; keeps them if that fails. */
  async flush(write: (changes: readonly HeldSum[]) => Promise<void>): Promise<void> {
    const changes = [...this.#changes.values()].filter(({ rows, bytes }) => rows !== 0 || bytes !== 0);
    this.#changes = new Map();
    if (changes.length === 0) return;
    try {
      await write(changes);
    } catch (error) {
      for (const change of changes) this.add(change);
      throw error;
    }
  }
}
