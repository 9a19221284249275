/**
 * How a column of the log is described: once, in `tables.ts`. What is copied and inserted, what is selected, the type of a
 * row that was read, and the table in Postgres follow from it.
 */

/** The type of a column. A moment is milliseconds since the epoch on our side. */
export type ColumnKind = 'uuid' | 'text' | 'int' | 'smallint' | 'moment' | 'uuid[]' | 'text[]' | 'jsonb';

/** A column of a row that is made of `R`, and that is read as `V`. */
export type Column<R, V> = {
  kind: ColumnKind;
  /** Whether every row has something there. */
  isGiven: boolean;
  /** Throws RangeError where a moment is none. */
  of: (record: R) => V | undefined;
};

export type Columns<R> = Record<string, Column<R, unknown>>;

/** A row as it is read. */
export type RowOf<C> = { [Name in keyof C]: C[Name] extends Column<never, infer V> ? V : never };

/** Every row has it. */
export function column<R, V>(kind: ColumnKind, of: (record: R) => V): Column<R, V> {
  return { kind, isGiven: true, of };
}

/** Null where a row has none. */
export function optional<R, V>(kind: ColumnKind, of: (record: R) => V): Column<R, Exclude<V, undefined> | null> {
  // A missing value is null in Postgres, and when it is read.
  return { kind, isGiven: false, of: (record) => (of(record) ?? null) as Exclude<V, undefined> | null };
}

/** The name in Postgres of what is `tlsMs` here. */
export const nameOf = (member: string): string => member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const TYPES: Partial<Record<ColumnKind, string>> = { moment: 'timestamptz' };

export const typeOf = (kind: ColumnKind): string => TYPES[kind] ?? kind;

/** In milliseconds since the epoch, as a number. */
export const ms = (expression: string): string => `round(extract(epoch from ${expression}) * 1000)::float8`;

/** The moment of a parameter in milliseconds since the epoch. */
export const time = (parameter: string): string => `to_timestamp(${parameter}::float8 / 1000)`;

/** The columns of a table as a query selects them, each named as in its row. `alias` is what the query calls the table. */
export function selected(columns: Columns<never>, alias: string, replaced: Record<string, string> = {}): string {
  return Object.entries(columns)
    .map(([member, { kind }]) => {
      const place = `${alias}.${nameOf(member)}`;
      return `${replaced[member] ?? (kind === 'moment' ? ms(place) : place)} as "${member}"`;
    })
    .join(', ');
}

/** A value as Postgres reads it as text. */
export type ColumnValue = string | number | null;

/** Makes what Postgres reads of what a record has in a column. */
export function writerOf<R>({ kind, of }: Column<R, unknown>): (record: R) => ColumnValue {
  // The kind of a column says what its values are.
  const write = WRITERS[kind]() as (value: unknown) => ColumnValue;
  return (record) => {
    const value = of(record);
    return value === null || value === undefined ? null : write(value);
  };
}

const WRITERS: Record<ColumnKind, () => (value: never) => ColumnValue> = {
  uuid: () => (guid: string) => guid,
  text: () => (text: string) => text,
  int: () => (number: number) => number,
  smallint: () => (number: number) => number,
  moment: writeMoment,
  'uuid[]': () => (guids: readonly string[]) => `{${guids.join(',')}}`,
  'text[]': () => (texts: readonly string[]) => `{${texts.map(quoted).join(',')}}`,
  jsonb: () => (value: unknown) => JSON.stringify(value),
};

function writeMoment(): (ms: number) => string {
  // Rows beside each other mostly have the same one.
  let last: { ms?: number; text: string } = { text: '' };
  return (moment) => {
    if (moment !== last.ms) last = { ms: moment, text: new Date(moment).toISOString() };
    return last.text;
  };
}

const quoted = (text: string): string => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
