import type { JsonSchema, PayloadMember } from './action.ts';

/** A member that may be absent, and then counts for what null would. What a table types is checked. */
const member = (name: string, description: string, schema: JsonSchema): PayloadMember => ({
  name,
  schema: { ...schema, description },
  isRequired: false,
});

export const guid = (name: string, description: string): PayloadMember =>
  member(name, description, { type: 'string', format: 'uuid' });
/** At least one. */
export const guids = (name: string, description: string): PayloadMember =>
  member(name, description, { type: 'array', minItems: 1, items: { type: 'string', format: 'uuid' } });
export const text = (name: string, description: string): PayloadMember => member(name, description, { type: 'string' });
/** A text of at most this many Unicode code points. */
export const shortText = (name: string, description: string, maxLength: number): PayloadMember =>
  member(name, description, { type: 'string', maxLength });
export const number = (name: string, description: string): PayloadMember =>
  member(name, description, { type: 'number' });
export const integer = (name: string, description: string): PayloadMember =>
  member(name, description, { type: 'integer' });
export const DECIMAL = String.raw`^-?\d+(?:\.\d+)?$`;

/** A number, or a text that is one. */
export const decimal = (name: string, description: string): PayloadMember =>
  member(name, description, { type: ['number', 'string'], pattern: DECIMAL });
/** Degrees between `-most` and `most`. */
export const coordinate = (name: string, description: string, most: number): PayloadMember =>
  member(name, description, { type: 'number', minimum: -most, maximum: most });
export const flag = (name: string, description: string): PayloadMember =>
  member(name, description, { type: 'boolean' });
/** `yyyy-mm-dd`. */
export const date = (name: string, description: string): PayloadMember =>
  member(name, description, { type: 'string', format: 'date' });
/** A date and time, announced as received. */
export const moment = (name: string, description: string): PayloadMember =>
  member(name, description, { type: 'string', format: 'date-time' });
/** A date and time, announced in UTC. */
export const timestamp = (name: string, description: string): PayloadMember => ({
  ...moment(name, description),
  isTimestamp: true,
});
/** One of a closed list of values. */
export const oneOf = (name: string, description: string, values: readonly (string | boolean)[]): PayloadMember =>
  member(name, description, { enum: values });
/** An object of which only the listed members are read and announced. */
export const object = (name: string, description: string, members: readonly PayloadMember[]): PayloadMember => ({
  ...member(name, description, { type: 'object' }),
  members,
});
/** Objects of which only the listed members are read, at least one. */
export const listOf = (name: string, description: string, members: readonly PayloadMember[]): PayloadMember =>
  member(name, description, { type: 'array', minItems: 1, items: objectSchema(members, acceptedSchema) });
/** An object whose members the specification does not show: sent as received. */
export const anyObject = (name: string, description: string): PayloadMember =>
  member(name, description, { type: 'object' });
/** An object of any names, each with a text. */
export const texts = (name: string, description: string): PayloadMember =>
  member(name, description, { type: 'object', additionalProperties: { type: 'string' } });
/** A value of any type. */
export const anyValue = (name: string): PayloadMember => ({ name, schema: {}, isRequired: false });

/** Never absent, and never null. */
export const required = (optional: PayloadMember): PayloadMember => ({ ...optional, isRequired: true });
/** Announced as null where upstream sends that, as a table or a sample shows it. */
export const nullable = (plain: PayloadMember): PayloadMember => ({ ...plain, isNullable: true });
/** Still sent while upstream sends it, and marked as on its way out. */
export const deprecated = (old: PayloadMember): PayloadMember => ({
  ...old,
  schema: { ...old.schema, deprecated: true },
});

/** The guid of what the event is about. */
export const target = (name: string, description: string): PayloadMember => required(guid(name, description));
/** The guids of what the event is about. */
export const targets = (name: string, description: string): PayloadMember => required(guids(name, description));

export type ObjectSchema = {
  readonly type: string;
  readonly properties: Readonly<Record<string, JsonSchema | boolean>>;
  readonly required: readonly string[];
};

/** The schema of an object with these members, each by its own; any other member is let through. */
export function objectSchema(
  members: readonly PayloadMember[],
  schemaOf: (member: PayloadMember) => JsonSchema,
): ObjectSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(members.map((each) => [each.name, schemaOf(each)])),
    required: members.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  };
}

/** The schema of a member as upstream sends it: null means the same as absence, unless the member is required. */
export function acceptedSchema({ schema, members, isRequired, isNullable }: PayloadMember): JsonSchema {
  const own = members === undefined ? schema : { ...schema, ...objectSchema(members, acceptedSchema) };
  return isRequired && isNullable !== true ? own : orNull(own);
}

/** The schema, or null. */
export function orNull(schema: JsonSchema): JsonSchema {
  const { type, enum: values } = schema;
  if (Array.isArray(values)) return { ...schema, enum: [...values, null] };
  return type === undefined ? schema : { ...schema, type: [type, 'null'].flat() };
}
