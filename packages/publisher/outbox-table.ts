/** The place of the outbox. */
export interface OutboxPlace {
  /** The schema in which the migration ran. The first with an outbox in the search path unless given. */
  schema?: string | undefined;
}

/** Its table, as SQL names it. */
export function outboxTable({ schema }: OutboxPlace): string {
  return schema === undefined ? 'waybell_outbox' : `"${schema.replaceAll('"', '""')}".waybell_outbox`;
}

/** The lock that a relay holds while it sleeps, as SQL. */
export function sleepingLock(table: string): string {
  return `(2002876770::bigint << 32) + '${table.replaceAll("'", "''")}'::regclass::oid::bigint`;
}
