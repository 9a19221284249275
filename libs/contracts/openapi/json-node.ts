/** A part of a document. */
export type JsonNode = Readonly<Record<string, unknown>>;

export const schemaRef = (name: string): JsonNode => ({ $ref: `#/components/schemas/${name}` });
export const headerRef = (name: string): JsonNode => ({ $ref: `#/components/headers/${name}` });

export const jsonOf = (schema: JsonNode): JsonNode => ({ 'application/json': { schema } });
