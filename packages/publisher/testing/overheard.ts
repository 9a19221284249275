import type pg from 'pg';
import type { OutboxPool } from '../outbox.ts';

/** The pool, and what is asked by connections that it gives. */
export function overheard(of: pg.Pool): { pool: OutboxPool; statements: string[] } {
  const statements: string[] = [];
  const connect = async () => {
    const connection = await of.connect();
    const { query } = connection;
    // The pool itself asks in other forms.
    const hear = (...asked: Parameters<typeof query>) => {
      statements.push(asked[0]);
      return query.apply(connection, asked);
    };
    return Object.assign(connection, { query: hear as typeof query });
  };
  return { pool: { connect }, statements };
}
