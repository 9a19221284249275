/**
 * Words for the schemas of operations, made of TypeBox's: each is a node of the OpenAPI document, what ajv checks a request by, and a static
 * type. `told` is a description, or the options of a schema.
 */
import { Type, type Static, type TOptional, type TProperties, type TSchema } from 'typebox';
import type { Action } from '@waybell/catalog/action';

/** A part of a document. */
export type JsonNode = Readonly<Record<string, unknown>>;

type Told = string | JsonNode;

const options = (told: Told): JsonNode => (typeof told === 'string' ? { description: told } : told);

export const text = (told: Told = {}) => Type.String(options(told));
export const guid = (told: Told = {}) => Type.String({ format: 'uuid', ...options(told) });
/** A time as RFC 3339. */
export const moment = (told: Told = {}) =>
  Type.String({ format: 'date-time', examples: ['2026-11-20T09:30:00.123Z'], ...options(told) });
export const flag = (told: Told = {}) => Type.Boolean(options(told));
export const count = (told: Told = {}) => Type.Integer({ minimum: 0, ...options(told) });
export const whole = (told: JsonNode) => Type.Integer(told);
export const list = <T extends TSchema>(items: T, told: Told = {}) => Type.Array(items, options(told));

/** One of these values. */
export const choice = <const Value extends string | boolean | null>(values: readonly Value[], told: Told = {}) =>
  Type.Unsafe<Value>({ enum: values, ...options(told) });

/** This value. */
export const only = <const Value extends string | number | boolean>(value: Value) =>
  Type.Unsafe<Value>({ const: value });

/** The name of an action. Its description is the text of the error: `must be …`. */
export const actionName = (told: JsonNode = {}) =>
  text({ pattern: '^[a-z_.]{1,100}$', description: 'the name of an action', ...told });

/** The same in which `*` is any text. */
export const actionPattern = (told: JsonNode = {}) =>
  text({
    pattern: '^[a-z_.*]{1,100}$',
    examples: ['order.*'],
    description: 'the name of an action, in which * is any text',
    ...told,
  });

/** An object, whose members are there unless they are optional. */
export const object = <const Properties extends TProperties>(properties: Properties, told: Told = {}) =>
  Type.Object(properties, options(told));

/** An object that has no other members. */
export const closed = <const Properties extends TProperties>(properties: Properties, told: Told = {}) =>
  Type.Object(properties, { additionalProperties: false, ...options(told) });

export const optional = <T extends TSchema>(schema: T) => Type.Optional(schema) as TOptional<T>;

/** A member that requests may leave out: then it has the default of its schema. */
export const defaulted = <T extends TSchema>(schema: T): T => Type.Optional(schema) as T;

/** The value, or null: by the type of the schema, or for one without a type beside it. */
export function orNull<T extends TSchema>(schema: T, told: Told = {}) {
  const { type } = nodeOf(schema);
  const nullable =
    type === undefined ? { anyOf: [schema, { type: 'null' }] } : derived(schema, { type: [type, 'null'] });
  return Type.Unsafe<Static<T> | null>(derived(nullable, options(told)));
}

/** The first of these that fits; objects are told apart by their `kind`. */
export const oneOf = <const Schemas extends readonly TSchema[]>(schemas: Schemas, told: Told = {}) =>
  Type.Unsafe<Static<Schemas[number]>>({ ...options(told), oneOf: schemas });

/** A list in an answer, without pages. */
export const objects = <T extends TSchema>(entry: T, told: Told = {}) => object({ objects: list(entry) }, told);

/** A schema as the node that it is in documents. */
export const nodeOf = (schema: TSchema): JsonNode => schema as JsonNode;

const COMPONENT = Symbol('component');
const FROM = Symbol('from');

/** A schema that has a name in the documents. Those of names of actions depend on the catalog. */
export type NamedSchema = { name: string; schemaFor(catalog: readonly Action[]): TSchema };

/** Refers to a schema by its name, and has its type. */
export const component = <T extends TSchema>(name: string, schema: T | ((catalog: readonly Action[]) => T)) =>
  Type.Unsafe<Static<T>>({
    $ref: `#/components/schemas/${name}`,
    [COMPONENT]: { name, schemaFor: typeof schema === 'function' ? schema : () => schema } satisfies NamedSchema,
  });

/** The component that a schema refers to. */
export const componentOf = (schema: TSchema): NamedSchema | undefined =>
  (schema as { [COMPONENT]?: NamedSchema })[COMPONENT];

/** All components that these schemas refer to, also by others, by name. */
export function componentsIn(schemas: readonly unknown[], catalog: readonly Action[]): Record<string, JsonNode> {
  const found: Record<string, JsonNode> = {};
  function visit(node: unknown): void {
    if (typeof node !== 'object' || node === null) return;
    const named = componentOf(node);
    if (named !== undefined && !(named.name in found)) visit((found[named.name] = nodeOf(named.schemaFor(catalog))));
    for (const member of Object.values(node)) visit(member);
  }
  visit(schemas);
  return found;
}

/** The origin of a value, in the row that the object around it is made of: a member of it, or a function of it. */
export type ValueSource = string | ((row: never, context: never) => unknown);

/** A member of an answer whose value has another name in the row, or is made of several. */
export const from = <T extends TSchema>(source: ValueSource, schema: T): T => derived(schema, { [FROM]: source }) as T;

export const sourceOf = (schema: TSchema): ValueSource | undefined => (schema as { [FROM]?: ValueSource })[FROM];

/** The schema with other members, as optional as it is. */
const derived = (schema: TSchema, members: object): TSchema =>
  Object.assign(Object.defineProperties({}, Object.getOwnPropertyDescriptors(schema)), members);

/** The schema with other options, such as another description. */
export const described = <T extends TSchema>(schema: T, told: Told): T => derived(schema, options(told)) as T;
