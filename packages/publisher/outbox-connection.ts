/** A pool of connections to Postgres: one of `pg` is one. */
export interface OutboxPool {
  connect(): Promise<OutboxConnection>;
}

/** A connection of such a pool. */
export interface OutboxConnection extends OutboxQueries {
  on(event: 'notification', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  removeListener(event: 'notification', listener: () => void): unknown;
  removeListener(event: 'error', listener: (error: Error) => void): unknown;
  /** With an error, the pool closes it. */
  release(error?: Error): void;
}

/** Runs SQL, like a pool or a client of `pg`. */
export interface OutboxQueries {
  query(text: string, values?: unknown[]): Promise<{ rows: Record<string, unknown>[] }>;
}
