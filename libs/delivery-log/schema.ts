import { columnNameOf, typeOf, type Columns, identityOf, quotingOf, tableNames, tables } from './tables.ts';

/**
 * Builds statements that create the tables of `tables.ts`, and add what existing ones lack. They can be repeated, and lock
 * nothing if nothing is lacking: services run meanwhile. A new index is created on the parent table alone; the migration creates
 * it on the partitions. Removing or changing something needs a migration.
 */
export function schemaStatements(owner: string): string[] {
  return [...numberStatements(owner), ...tableNames.flatMap((name) => tableStatements(name, owner)), NUMBERS_BELONG];
}

/** Even a statement that finds nothing to do would wait for a lock, and make all others wait behind it. */
const unless = (isSo: string, statement: string): string =>
  `do $$ begin if not (${isSo}) then ${statement}; end if; end $$`;

/** The numbers of commits. */
const numberStatements = (owner: string): string[] => [
  unless(
    `to_regclass('${NUMBERS}') is not null`,
    `create sequence ${NUMBERS}; alter sequence ${NUMBERS} owner to ${owner}`,
  ),
];

const NUMBERS = 'delivery_log.commit_numbers';

/** The sequence is found with its table, as those of identity columns are. */
const NUMBERS_BELONG = unless(
  `exists (select from pg_depend where objid = '${NUMBERS}'::regclass and refobjid = 'delivery_log.commits'::regclass)`,
  `alter sequence ${NUMBERS} owned by delivery_log.commits.number`,
);

function tableStatements(name: keyof typeof tables, owner: string): string[] {
  const { columns, indexes = {} }: TableDefinition = tables[name];
  const described = Object.entries(columns).map(
    ([member, { kind, isGiven }]) => `${columnNameOf(member)} ${typeOf(kind)}${isGiven ? ' not null' : ''}`,
  );
  const added = described.map((each) => `add column if not exists ${each}`);
  const columnNames = Object.keys(columns).map((member) => `'${columnNameOf(member)}'`);
  const table = `delivery_log.${name}`;
  const identity = identityOf(name).map(columnNameOf);
  const key = identity.length === 0 ? [] : [`primary key (${identity.join(', ')})`];
  return [
    `create table if not exists ${table} (${[...described, ...key].join(', ')}) partition by range (at)`,
    unless(
      `(select count(*) from pg_attribute where attrelid = '${table}'::regclass and not attisdropped
         and attname in (${columnNames.join(', ')})) = ${columnNames.length}`,
      `alter table ${table} ${added.join(', ')}`,
    ),
    ...Object.entries(columns).flatMap(([member, { kind }]) => (kind === 'bytea' ? [uncompressed(table, member)] : [])),
    ...quotingOf(name).map((member) => unsampled(table, member)),
    ...Object.entries(indexes).map(([index, text]) =>
      unless(`to_regclass('delivery_log.${index}') is not null`, `create index ${index} on only ${table} ${text}`),
    ),
    unless(
      `(select relowner::regrole = '${owner}'::regrole from pg_class where oid = '${table}'::regclass)`,
      `alter table ${table} owner to ${owner}`,
    ),
  ];
}

/** Bytes are compressed already, or cannot be. */
const uncompressed = (table: string, member: string): string =>
  alterColumn(table, columnNameOf(member), { unless: "attstorage = 'e'", set: 'storage external' });

/** Postgres would keep samples of what a column quotes, out of the reach of `forget`. */
const unsampled = (table: string, member: string): string =>
  alterColumn(table, columnNameOf(member), { unless: 'attstattarget = 0', set: 'statistics 0' });

function alterColumn(table: string, column: string, { unless: isSo, set }: { unless: string; set: string }): string {
  return unless(
    `coalesce((select ${isSo} from pg_attribute where attrelid = '${table}'::regclass and attname = '${column}'), false)`,
    `alter table ${table} alter column ${column} set ${set}`,
  );
}

type TableDefinition = { columns: Columns<never>; indexes?: Record<string, string> };
