import { nameOf, typeOf, type Columns } from './columns.ts';
import { tableNames, tables } from './tables.ts';

/**
 * Builds statements that create the tables of `tables.ts`, and add what existing ones lack. They can be repeated, and lock
 * nothing if nothing is lacking: services run meanwhile. A new index is created on the parent table alone; the migration creates
 * it on the partitions. Removing or changing something needs a migration.
 */
export function schemaStatements(owner: string): string[] {
  return [...tableNames.flatMap((name) => tableStatements(name, owner)), ...viewStatements(owner)];
}

function tableStatements(name: keyof typeof tables, owner: string): string[] {
  const { columns, constraints = [], indexes = {} }: TableDefinition = tables[name];
  const described = Object.entries(columns).map(
    ([member, { kind, isGiven }]) => `${nameOf(member)} ${typeOf(kind)}${isGiven ? ' not null' : ''}`,
  );
  const added = described.map((each) => `add column if not exists ${each}`);
  const columnNames = Object.keys(columns).map((member) => `'${nameOf(member)}'`);
  const table = `delivery_log.${name}`;
  return [
    `create table if not exists ${table} (${[...described, ...constraints].join(', ')}) partition by range (at)`,
    unless(
      `(select count(*) from pg_attribute where attrelid = '${table}'::regclass and not attisdropped
         and attname in (${columnNames.join(', ')})) = ${columnNames.length}`,
      `alter table ${table} ${added.join(', ')}`,
    ),
    ...Object.entries(indexes).map(([index, text]) => {
      const [, unique = '', rest = ''] = /^(unique )?(.*)$/s.exec(text) ?? [];
      return unless(
        `to_regclass('delivery_log.${index}') is not null`,
        `create ${unique}index ${index} on only ${table} ${rest}`,
      );
    }),
    unless(
      `(select relowner::regrole = '${owner}'::regrole from pg_class where oid = '${table}'::regclass)`,
      `alter table ${table} owner to ${owner}`,
    ),
  ];
}

/** Even a statement that finds nothing to do would wait for a lock, and make all others wait behind it. */
const unless = (isSo: string, statement: string): string =>
  `do $$ begin if not (${isSo}) then ${statement}; end if; end $$`;

type TableDefinition = { columns: Columns<never>; constraints?: readonly string[]; indexes?: Record<string, string> };

/**
 * Views with every attempt once, for SQL by hand: a record that came twice may be in both tables, or in two rows of a delivery
 * whose event was routed twice. `filed_at`: the time of its row, within a minute of its own; a condition on it spares a query
 * looking into each day.
 */
function viewStatements(owner: string): string[] {
  const told = Object.keys(tables.attempts.columns).filter((member) => member !== 'at');
  const ofFirst: Record<string, string> = { attempt: '1', kind: `'delivered'` };
  const first = told.map((member) => {
    const isThere = member in tables.deliveries.columns;
    return ofFirst[member] ?? (isThere ? nameOf(member) : `null::${typeOf(kindOf(member))}`);
  });
  return [
    'drop view if exists delivery_log.all_attempts',
    `create view delivery_log.all_attempts as
     select at, at as filed_at, ${told.map(nameOf).join(', ')}
     from delivery_log.attempts a
     where kind <> 'delivered' or attempt <> 1 or (
       select true from delivery_log.deliveries d where d.delivery = a.delivery and d.attempted_at = a.at
         and d.at > a.at - interval '1 minute' and d.at < a.at + interval '1 minute' limit 1) is null
     union all
     select attempted_at, at, ${first.join(', ')}
     from delivery_log.deliveries d
     where attempted_at is not null and (
       select true from delivery_log.deliveries e where e.delivery = d.delivery and e.attempted_at = d.attempted_at
         and e.at > d.attempted_at - interval '1 minute' and e.at < d.at limit 1) is null`,
    `alter view delivery_log.all_attempts owner to ${owner}`,
  ];
}

function kindOf(member: string) {
  const { kind } = (tables.attempts.columns as Columns<never>)[member] ?? { kind: 'text' as const };
  return kind;
}
