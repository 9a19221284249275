import type { JsonSchema, Member } from './action.ts';

const member = (name: string, description: string, schema: JsonSchema): Member => ({
  name,
  schema: { ...schema, description },
  isRequired: false,
});
const requiredMember = (name: string, description: string, schema: JsonSchema): Member => ({
  ...member(name, description, schema),
  isRequired: true,
});

/** The guid of what the event is about: never absent. */
export const target = (name: string, description: string): Member =>
  requiredMember(name, description, { type: 'string', format: 'uuid' });

/** The guids of what the event is about: never absent. */
export const targets = (name: string, description: string): Member =>
  requiredMember(name, description, { type: 'array', items: { type: 'string', format: 'uuid' } });

/** Objects of which only the listed members are read, at least one: never absent. */
export const listOf = (name: string, description: string, members: readonly Member[]): Member =>
  requiredMember(name, description, { type: 'array', minItems: 1, items: objectSchema(members) });

/** Degrees between `-most` and `most`: never absent. */
export const coordinate = (name: string, description: string, most: number): Member =>
  requiredMember(name, description, { type: 'number', minimum: -most, maximum: most });

/** Yes or no: never absent. */
export const verdict = (name: string, description: string): Member =>
  requiredMember(name, description, { type: 'boolean' });

/** A date and time: never absent. */
export const moment = (name: string, description: string): Member =>
  requiredMember(name, description, { type: 'string', format: 'date-time' });

/** One of a closed list of values: never absent. */
export const oneOf = (name: string, description: string, values: readonly (string | boolean)[]): Member =>
  requiredMember(name, description, { enum: values });

/** An object of which only the listed members are announced: never absent. */
export const object = (name: string, description: string, members: readonly Member[]): Member => ({
  ...requiredMember(name, description, objectSchema(members)),
  members,
});

export const guid = (name: string, description: string): Member =>
  member(name, description, { type: ['string', 'null'], format: 'uuid' });
export const text = (name: string, description: string): Member =>
  member(name, description, { type: ['string', 'null'] });
export const shortText = (name: string, description: string, maxLength: number): Member =>
  member(name, description, { type: ['string', 'null'], maxLength });
export const number = (name: string, description: string): Member =>
  member(name, description, { type: ['number', 'null'] });
export const integer = (name: string, description: string): Member =>
  member(name, description, { type: ['integer', 'null'] });
export const numberOrText = (name: string, description: string): Member =>
  member(name, description, { type: ['number', 'string', 'null'] });
export const flag = (name: string, description: string): Member =>
  member(name, description, { type: ['boolean', 'null'] });
/** An object whose members the specification does not show: sent as received. */
export const anyObject = (name: string, description: string): Member =>
  member(name, description, { type: ['object', 'null'] });
/** An object of any names, each with a text. */
export const texts = (name: string, description: string): Member =>
  member(name, description, { type: ['object', 'null'], additionalProperties: { type: ['string', 'null'] } });

export const timestamp = (name: string, description: string): Member => ({
  ...member(name, description, { type: ['string', 'null'], format: 'date-time' }),
  isTimestamp: true,
});

/** Still sent while upstream sends it, and marked as on its way out. */
export const deprecated = (old: Member): Member => ({ ...old, schema: { ...old.schema, deprecated: true } });

/** A value of any type. */
export const anyValue = (name: string): Member => ({ name, schema: {}, isRequired: false });
/** An object, if there is one, of which only the listed members are read. */
export const optionalObject = (name: string, members: readonly Member[]): Member => ({
  name,
  schema: { ...objectSchema(members), type: ['object', 'null'] },
  isRequired: false,
  members,
});

export type ObjectSchema = {
  readonly type: string;
  readonly properties: Readonly<Record<string, JsonSchema | boolean>>;
  readonly required: readonly string[];
};

/** The schema of an object with these members; any other member is let through, to be left out later. */
export function objectSchema(members: readonly Member[]): ObjectSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(members.map(({ name, schema }) => [name, schema])),
    required: members.filter(({ isRequired }) => isRequired).map(({ name }) => name),
  };
}
