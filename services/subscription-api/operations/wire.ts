/**
 * Writes answers by their schemas: a row of a store becomes what clients of the API read. The one place for names, times, and what is not
 * there.
 *
 *     member of the schema      its value, from the row
 *     --------------------      -----------------------
 *     from(source, …)           the member `source`, or what the function `source` makes of the row
 *     created_at                created_at, or createdAt
 *     delivery_guid             the same, or delivery
 *     of format date-time       of a Date, or of milliseconds since the epoch
 *     without one, or null      null, where the schema takes it; left out, where it is optional; else an error
 *
 * What the schema does not name is left out.
 */
import type { TSchema } from 'typebox';
import { componentOf, nodeOf, sourceOf } from './schema.ts';

/** `context`: what sources are given beside the row. */
type Write = (value: unknown, context: unknown) => unknown;
type RowMembers = Readonly<Record<string, unknown>>;

const known = new WeakMap<TSchema, Write>();

/** Throws where a member is missing that has to be there. */
export function wire(schema: TSchema, value: unknown, context?: unknown): unknown {
  return writerOf(schema)(value, context);
}

function writerOf(schema: TSchema): Write {
  const write = known.get(schema) ?? makeWriter(schema);
  known.set(schema, write);
  return write;
}

function makeWriter(schema: TSchema): Write {
  // Nothing that depends on the catalog has members.
  const named = componentOf(schema)?.schemaFor([]);
  if (named !== undefined) return writerOf(named);
  const { type, properties, items, format, oneOf, anyOf } = nodeOf(schema);
  // These keywords hold schemas.
  if (oneOf !== undefined) return writeByKind(oneOf as TSchema[]);
  if (type === undefined && anyOf !== undefined) return writerOf((anyOf as [TSchema])[0]);
  if (items !== undefined) return writeList(items as TSchema);
  if (properties !== undefined) return writeObject(properties as Record<string, TSchema>, requiredOf(schema));
  return format === 'date-time' ? writeMoment : (value) => value;
}

const requiredOf = (schema: TSchema) => (nodeOf(schema)['required'] ?? []) as readonly string[];

const writeMoment: Write = (value) =>
  typeof value === 'number' || value instanceof Date ? new Date(value).toISOString() : value;

function writeList(items: TSchema): Write {
  const write = writerOf(items);
  return (values, context) => (values as readonly unknown[]).map((value) => write(value, context));
}

/** Objects of several forms are told apart by their `kind`. */
function writeByKind(schemas: readonly TSchema[]): Write {
  const forms = schemas.map((schema) => {
    const { kind } = nodeOf(schema)['properties'] as { kind?: { const?: unknown } };
    return { kind: kind?.const, write: writerOf(schema) };
  });
  return (value, context) => {
    const { kind } = value as RowMembers;
    const form = forms.find((each) => each.kind === kind);
    if (form === undefined) throw new Error(`an answer of the kind ${String(kind)}, which its schema lacks`);
    return form.write(value, context);
  };
}

function writeObject(properties: Record<string, TSchema>, required: readonly string[]): Write {
  const members = Object.entries(properties).map(([name, schema]) => ({
    name,
    read: readerOf(name, schema),
    write: writerOf(schema),
    takesNull: takesNull(schema),
    isRequired: required.includes(name),
  }));
  return (row, context) => {
    const written: Record<string, unknown> = {};
    for (const { name, read, write, takesNull: isNullable, isRequired } of members) {
      const value = read(row as RowMembers, context);
      if (value !== null && value !== undefined) written[name] = write(value, context);
      else if (isNullable && (isRequired || value === null)) written[name] = null;
      else if (isRequired) throw new Error(`an answer lacks "${name}"`);
    }
    return written;
  };
}

function readerOf(name: string, schema: TSchema): (row: RowMembers, context: unknown) => unknown {
  const source = sourceOf(schema);
  // A source takes the row that its operation answers with.
  if (typeof source === 'function') return source as (row: RowMembers, context: unknown) => unknown;
  const { const: constant } = nodeOf(schema);
  const camel = name.replaceAll(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const names = [source ?? name, camel, name.replace(/_guid$/, '')];
  return (row) => {
    const found = names.find((each) => row[each] !== undefined);
    return found === undefined ? constant : row[found];
  };
}

function takesNull(schema: TSchema): boolean {
  const { type, enum: values, anyOf } = nodeOf(schema);
  // The keyword holds schemas.
  const forms = (anyOf ?? []) as readonly TSchema[];
  return [type].flat().includes('null') || [values].flat().includes(null) || forms.some(takesNull);
}
