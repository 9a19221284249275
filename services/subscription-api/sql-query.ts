/** Runs a statement on the connection that migrates, and resolves with its rows. */
export type SqlQuery = <R>(sql: string, values?: unknown[]) => Promise<R[]>;
