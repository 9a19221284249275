/** The name under which releases are noted among the repeatables. */
export const RELEASE = 'release';

/** The release by which the database was migrated last; undefined where none has noted itself. */
export async function lastRelease(query: SqlQuery): Promise<string | undefined> {
  const [last] = await query<{ hash: string }>(
    `select hash from waybell.repeatables where name = '${RELEASE}' order by applied_at desc limit 1`,
  );
  return last?.hash;
}

/** Runs a statement on the connection that migrates, and resolves with its rows. */
export type SqlQuery = <R>(sql: string, values?: unknown[]) => Promise<R[]>;
