/**
 * Describes columns of the log once, in `tables.ts`. Statements that copy and select, the types of rows read, and the tables in
 * Postgres follow from it.
 */

/** The type of a column. In memory, a moment is milliseconds since the epoch, and a bigint its digits. */
export type ColumnKind =
  | 'uuid'
  | 'text'
  | 'int'
  | 'smallint'
  | 'bigint'
  | 'moment'
  | 'uuid[]'
  | 'text[]'
  | 'jsonb'
  | 'bytea';

/** A column written from a record `R` and read as `V`. */
export type Column<R, V> = {
  kind: ColumnKind;
  /** Whether the column is not null. */
  isGiven: boolean;
  /** Throws RangeError if a moment is invalid. */
  of: (record: R) => V | undefined;
};

export type Columns<R> = Record<string, Column<R, unknown>>;

/** A row as it is read. */
export type RowOf<C> = { [Name in keyof C]: C[Name] extends Column<never, infer V> ? V : never };

/** A column that every row has. */
export function column<R, V>(kind: ColumnKind, of: (record: R) => V): Column<R, V> {
  return { kind, isGiven: true, of };
}

/** A column that may be null. */
export function optional<R, V>(kind: ColumnKind, of: (record: R) => V): Column<R, Exclude<V, undefined> | null> {
  // A missing value is null in Postgres and when read.
  return { kind, isGiven: false, of: (record) => (of(record) ?? null) as Exclude<V, undefined> | null };
}

/** Returns the name in Postgres: `tls_ms` for `tlsMs`. */
export const columnNameOf = (member: string): string =>
  member.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const TYPES: Partial<Record<ColumnKind, string>> = { moment: 'timestamptz' };

export const typeOf = (kind: ColumnKind): string => TYPES[kind] ?? kind;

/** Converts to milliseconds since the epoch, as a number. */
export const ms = (expression: string): string => `round(extract(epoch from ${expression}) * 1000)::float8`;

/** Converts a parameter in milliseconds since the epoch to a moment. */
export const time = (parameter: string): string => `to_timestamp(${parameter}::float8 / 1000)`;

/** Selects the columns of a table, named as in its row. `alias`: the query's name of the table. */
export function selected(columns: Columns<never>, alias: string, replaced: Record<string, string> = {}): string {
  return Object.entries(columns)
    .map(([member, { kind }]) => {
      const place = `${alias}.${columnNameOf(member)}`;
      return `${replaced[member] ?? (kind === 'moment' ? ms(place) : place)} as "${member}"`;
    })
    .join(', ');
}

const NULL = '\\N';

/** Returns a function that writes a record's value of a column in the text format of COPY. */
export function writerOf<R>({ kind, of }: Column<R, unknown>): (record: R) => string {
  // The kind of a column determines its values' type.
  const write = WRITERS[kind]() as (value: unknown) => string;
  return (record) => {
    const value = of(record);
    return value === null || value === undefined ? NULL : write(value);
  };
}

const WRITERS: Record<ColumnKind, () => (value: never) => string> = {
  uuid: () => (guid: string) => guid,
  text: () => escaped,
  int: () => String,
  smallint: () => String,
  bigint: () => String,
  moment: writeMoment,
  'uuid[]': () => (guids: readonly string[]) => `{${guids.join(',')}}`,
  'text[]': () => listOf,
  jsonb: () => (value: unknown) => escaped(JSON.stringify(value)),
  bytea: () => (bytes: Buffer) => `\\\\x${bytes.toString('hex')}`,
};

function writeMoment(): (ms: number) => string {
  // Adjacent rows mostly have the same moment.
  let [last, text] = [Number.NaN, ''];
  return (moment) => {
    if (moment !== last) text = new Date(moment).toISOString();
    last = moment;
    return text;
  };
}

const ESCAPED: Record<string, string> = { '\\': '\\\\', '\t': '\\t', '\n': '\\n', '\r': '\\r' };

function escaped(text: string): string {
  return /[\\\t\n\r]/.test(text) ? text.replaceAll(/[\\\t\n\r]/g, (special) => ESCAPED[special] ?? special) : text;
}

/** Writes an array of texts. */
function listOf(texts: readonly string[]): string {
  return texts.length === 0 ? '{}' : `{"${texts.map((text) => escaped(quoted(text))).join('","')}"}`;
}

const quoted = (text: string): string => (/["\\]/.test(text) ? text.replaceAll(/["\\]/g, String.raw`\$&`) : text);
