import type { Queryable } from '@waybell/runtime/postgres';
import { columnNameOf, typeOf, writerOf } from '../columns.ts';
import { columnsOf, identityOf, type AnyPart, type TableName } from '../tables.ts';
import type { LogParts } from './log-rows.ts';

const NAMES = ['events', 'attempts', 'deactivations'] as const satisfies (TableName & keyof LogParts)[];

const IDENTITIES = NAMES.map((table) => {
  const members = identityOf(table).map((member) => ({ member, column: columnsOf(table)[member] }));
  return {
    table,
    names: members.map(({ member }) => columnNameOf(member)),
    types: members.flatMap(({ column }) => (column === undefined ? [] : [typeOf(column.kind)])),
    writers: members.flatMap(({ column }) => (column === undefined ? [] : [writerOf(column)])),
  };
});

const WRITTEN = writtenText();

/**
 * Returns the parts without rows, each once. Parts that are left out must not be stored again: they may have been erased since.
 */
export async function unwritten(postgres: Queryable, parts: LogParts): Promise<LogParts> {
  const distinct = IDENTITIES.map(({ table, writers }) => {
    const each: readonly AnyPart[] = parts[table];
    const keyed = each.map((part) => ({ part, key: writers.map((write) => write(part)) }));
    return [...new Map(keyed.map((one) => [one.key.join(' '), one])).values()];
  });
  const values = IDENTITIES.flatMap(({ writers }, at) =>
    writers.map((_, column) => distinct[at]?.map(({ key }) => key[column])),
  );
  const { rows } = await postgres.query<{ name: string; place: number }>({ ...WRITTEN, values });
  const written = new Set(rows.map(({ name, place }) => `${name} ${place}`));
  const left = IDENTITIES.map(({ table }, at) => [
    table,
    distinct[at]?.filter((_, place) => !written.has(`${table} ${place + 1}`)).map(({ part }) => part),
  ]);
  // Each table's parts, fewer than before.
  return Object.fromEntries(left) as LogParts;
}

function writtenText(): { name: string; text: string } {
  let parameter = 0;
  const looks = IDENTITIES.map(({ table, names, types }) => {
    const arrays = types.map((type) => `$${(parameter += 1)}::${type}[]`);
    const columns = names.join(', ');
    return `select '${table}' as name, wanted.place::int from unnest(${arrays.join(', ')}) with ordinality as wanted (${columns}, place)
      join delivery_log.${table} using (${columns})`;
  });
  return { name: 'written', text: looks.join('\nunion all\n') };
}
