import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';

/** A statement that each connection prepares once. */
export type Statement = { name: string; text: string };

/** Resolves with the rows of a statement. Rejects with `Unavailable` while Postgres is away. */
export type QueryRows = <Row extends object>(statement: Statement, values: unknown[]) => Promise<Row[]>;

export function queryRowsIn(postgres: Postgres): QueryRows {
  return <Row extends object>(statement: Statement, values: unknown[]) =>
    whenAvailable(postgres, async () => (await postgres.query<Row>({ ...statement, values })).rows);
}
