/**
 * Nodes of the OpenAPI documents: their type, and what many operations have in common, such as references, schemas of values, links to
 * other operations, and a body without content.
 */
import type { Interface } from '@waybell/catalog/action';

/** A part of a document. */
export type JsonNode = Readonly<Record<string, unknown>>;

export const schemaRef = (name: string): JsonNode => ({ $ref: `#/components/schemas/${name}` });
export const headerRef = (name: string): JsonNode => ({ $ref: `#/components/headers/${name}` });

export const jsonOf = (schema: JsonNode): JsonNode => ({ 'application/json': { schema } });

export const guid: JsonNode = { type: 'string', format: 'uuid' };
export const moment: JsonNode = { type: 'string', format: 'date-time', examples: ['2026-11-20T09:30:00.123Z'] };
export const text: JsonNode = { type: 'string' };
export const count: JsonNode = { type: 'integer', minimum: 0 };

export const countOf = (description: string): JsonNode => ({ ...count, description });

/** Its description is the text of the error: `must be …`. */
export const actionName: JsonNode = {
  type: 'string',
  pattern: '^[a-z_.]{1,100}$',
  description: 'the name of an action',
};

/** The same in which `*` is any text. */
export const actionPattern: JsonNode = {
  type: 'string',
  pattern: '^[a-z_.*]{1,100}$',
  examples: ['order.*'],
  description: 'the name of an action, in which * is any text',
};

export const object = (required: readonly string[], properties: JsonNode): JsonNode => ({
  type: 'object',
  required,
  properties,
});

/** An object that has each of these members. */
export const exactly = (properties: JsonNode): JsonNode => object(Object.keys(properties), properties);

/** A list without pages. */
export const listOf = (entry: string): JsonNode =>
  object(['objects'], { objects: { type: 'array', items: schemaRef(entry) } });

/**
 * A link to another operation: the value at this place of an answer is a parameter of it, or a member of its body, with an example for
 * the other members.
 */
export type LinkTarget = { operationId: string; at: string } & (
  | { parameter: string }
  | { member: string; others: JsonNode }
);

/** Wrapping of an interface's answers. */
const WITHIN: Record<'list' | 'object', Record<Interface, string>> = {
  list: { shipper: '/data', carrier: '' },
  object: { shipper: '/data/object', carrier: '' },
};

/** Links from an answer, on each interface. */
export function links(
  interfaces: readonly Interface[],
  form: keyof typeof WITHIN,
  targets: readonly LinkTarget[],
): JsonNode {
  const named = interfaces.flatMap((name) =>
    targets.map((target): [string, JsonNode] => [`${target.operationId}.${name}`, link(target, WITHIN[form][name])]),
  );
  return Object.fromEntries(named);
}

function link({ operationId, at, ...target }: LinkTarget, within: string): JsonNode {
  const value = `$response.body#${within}${at}`;
  if ('parameter' in target) return { operationId, parameters: { [target.parameter]: value } };
  return { operationId, requestBody: { [target.member]: value, ...target.others } };
}

/** Each of these operations takes the guid that is at this place. */
export const byGuid = (at: string, ...operationIds: string[]): LinkTarget[] =>
  operationIds.map((operationId) => ({ operationId, parameter: 'guid', at }));

/** A body that says nothing; there may be none as well. */
export const nothing: JsonNode = { type: 'object', additionalProperties: false };

export const noBody: JsonNode = { required: false, content: jsonOf(nothing) };
