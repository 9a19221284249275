/** A part of a document. */
export type JsonNode = Readonly<Record<string, unknown>>;

export const schemaRef = (name: string): JsonNode => ({ $ref: `#/components/schemas/${name}` });
export const headerRef = (name: string): JsonNode => ({ $ref: `#/components/headers/${name}` });

export const jsonOf = (schema: JsonNode): JsonNode => ({ 'application/json': { schema } });

export const guid: JsonNode = { type: 'string', format: 'uuid' };
export const moment: JsonNode = { type: 'string', format: 'date-time', examples: ['2026-11-20T09:30:00.123Z'] };
export const text: JsonNode = { type: 'string' };

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

/** A list without pages. */
export const listOf = (entry: string): JsonNode =>
  object(['objects'], { objects: { type: 'array', items: schemaRef(entry) } });
