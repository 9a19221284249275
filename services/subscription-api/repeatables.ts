import { hash } from 'node:crypto';
import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { schemaStatements } from '@waybell/delivery-log/schema';

/** A part of the database that is made anew whenever it changes: functions, who may call them, and the tables of the delivery log. */
export type Repeatable = { name: string; sql: string; hash: string };

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const NAMES = globSync('{libs,services}/**/*.sql', { cwd: ROOT, exclude: (name) => name === 'node_modules' });

const repeatable = (name: string, sql: string): Repeatable => ({ name, sql, hash: hash('sha256', sql) });

/** Each lies beside the rule that it is of, and is named by its path; the tables come first. */
export const repeatables: readonly Repeatable[] = [
  repeatable('libs/delivery-log/tables.ts', schemaStatements('waybell_log').join(';\n')),
  ...NAMES.map((path) => path.replaceAll('\\', '/'))
    .toSorted()
    .map((name) => repeatable(name, readFileSync(`${ROOT}/${name}`, 'utf8'))),
];

type Query = <R>(sql: string, values?: unknown[]) => Promise<R[]>;

/**
 * Runs those that are not as they were run last; all where the tables have changed beneath them. Returns their names. To be
 * called in a transaction.
 */
export async function applyRepeatables(
  query: Query,
  { haveTablesChanged }: { haveTablesChanged: boolean },
): Promise<string[]> {
  await query(`
    create table if not exists waybell.repeatables (
      name text not null, hash text not null, applied_at timestamptz not null, primary key (name, hash))`);
  const last = await query<{ name: string; hash: string }>(
    'select distinct on (name) name, hash from waybell.repeatables order by name, applied_at desc',
  );
  const isLast = (each: Repeatable) => last.some(({ name, hash: known }) => name === each.name && known === each.hash);
  const due = haveTablesChanged ? repeatables : repeatables.filter((each) => !isLast(each));
  for (const { name, sql, hash: version } of due) {
    await query(sql);
    await query(
      `insert into waybell.repeatables values ($1, $2, clock_timestamp())
       on conflict (name, hash) do update set applied_at = excluded.applied_at`,
      [name, version],
    );
  }
  return due.map(({ name }) => name);
}

/** Whether each was run as it is here. A later version may have been run since: this process is then an older one. */
export async function areRepeatablesApplied(query: Query): Promise<boolean> {
  const applied = await query<{ name: string; hash: string }>('select name, hash from waybell.repeatables');
  const known = new Set(applied.map(({ name, hash: version }) => `${name} ${version}`));
  return repeatables.every(({ name, hash: version }) => known.has(`${name} ${version}`));
}
