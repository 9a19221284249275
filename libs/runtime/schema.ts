import type { Queryable } from './postgres.ts';

/** Number of the last migration that the services of this version need. */
export const SCHEMA_VERSION = 40;

/** Readiness report of a process whose tables are of an earlier version. */
export const MIGRATIONS = 'migrations (run `waybell migrate`)';

/** Resolves if the tables are of this version, or of a later one, which only adds to them. Otherwise throws. */
export async function checkSchema(postgres: Queryable): Promise<void> {
  const { rows } = await postgres.query<{ version: number }>('select version from waybell.schema_version');
  const version = rows[0]?.version ?? 0;
  if (version < SCHEMA_VERSION)
    throw new Error(`the tables are those of migration ${version}, not of ${SCHEMA_VERSION}`);
}
