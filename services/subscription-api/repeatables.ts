import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { schemaStatements } from '@waybell/delivery-log/schema';
import { RELEASE, type SqlQuery } from './last-release.ts';

/** A part of the database that is replaced whenever it changes: functions, their grants, and the tables of the delivery log. */
export type Repeatable = { name: string; sql: string; hash: string };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NAMES = globSync('{libs,services}/**/*.sql', { cwd: ROOT, exclude: (name) => name === 'node_modules' });

const repeatable = (name: string, sql: string): Repeatable => ({ name, sql, hash: hash('sha256', sql) });

/** Each lies next to the code of its rule, and is named by its path; the tables come first. */
export const repeatables: readonly Repeatable[] = [
  repeatable('libs/delivery-log/tables.ts', schemaStatements('waybell_log').join(';\n')),
  ...NAMES.map((path) => path.replaceAll('\\', '/'))
    .toSorted()
    .map((name) => repeatable(name, readFileSync(`${ROOT}/${name}`, 'utf8'))),
];

/** The table that notes which were run, and the last migration when all had been. */
export const REPEATABLES = `
create table if not exists waybell.repeatables (
  name text not null, hash text not null, applied_at timestamptz not null, primary key (name, hash))`;

/** Notes by which release the database is migrated now. */
export const noteRelease = (query: SqlQuery, release: string): Promise<unknown> => query(NOTE, [RELEASE, release]);

export type ApplyOptions = {
  /** Whether a migration has just changed tables that they use. */
  haveTablesChanged: boolean;
  /** The number of the last migration. */
  schemaVersion: number;
  inTransaction: (name: string, work: () => Promise<void>) => Promise<void>;
};

/**
 * Runs those that have changed since they were run last; all of them if tables have changed since. Each is one transaction, so that no
 * lock is held for another. Returns their names.
 */
export async function applyRepeatables(query: SqlQuery, options: ApplyOptions): Promise<string[]> {
  const { haveTablesChanged, schemaVersion, inTransaction } = options;
  const last = await query<{ name: string; hash: string }>(
    'select distinct on (name) name, hash from waybell.repeatables order by name, applied_at desc',
  );
  const isLast = (each: RepeatableRow) =>
    last.some(({ name, hash: known }) => name === each.name && known === each.hash);
  const note = (each: RepeatableRow) => query(NOTE, [each.name, each.hash]);
  const tables = { name: 'migrations', hash: String(schemaVersion) };
  const isEach = haveTablesChanged || !isLast(tables);
  const due = isEach ? repeatables : repeatables.filter((each) => !isLast(each));
  for (const each of due) {
    await inTransaction(each.name, async () => {
      await query(each.sql);
      await note(each);
    });
  }
  if (isEach) await note(tables);
  return due.map(({ name }) => name);
}

type RepeatableRow = Pick<Repeatable, 'name' | 'hash'>;

const NOTE = `
insert into waybell.repeatables values ($1, $2, clock_timestamp())
on conflict (name, hash) do update set applied_at = excluded.applied_at`;

/** Whether each was run as it is here. A later version may have been run since: this process is then an older one. */
export async function areRepeatablesApplied(query: SqlQuery): Promise<boolean> {
  const applied = await query<{ name: string; hash: string }>('select name, hash from waybell.repeatables');
  const known = new Set(applied.map(({ name, hash: version }) => `${name} ${version}`));
  return repeatables.every(({ name, hash: version }) => known.has(`${name} ${version}`));
}
