import type { JsonNode } from './schema.ts';

/**
 * Turns the document of one interface into what generators of clients make code of that compiles, and leave nothing out: every operation,
 * and none of what receivers are sent, for which there are JSON Schemas. Tried with openapi-python-client, oapi-codegen and
 * openapi-typescript.
 */
export function clientDocument(document: JsonNode): JsonNode {
  // The introduction, which each document has as an object, is of the other one; this one is a folder deeper.
  const info = { ...(document['info'] as object), description: undefined };
  const servers = [{ url: '..', description: 'Where the API is.' }];
  const made: JsonNode = JSON.parse(JSON.stringify({ ...document, info, servers, webhooks: undefined }, forGenerators));
  return made;
}

function forGenerators(key: string, node: unknown): unknown {
  if (key.startsWith('notification.')) return undefined;
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return node;
  // All else in JSON is an object.
  const { $ref, ...own } = node as JsonNode;
  // Nobody makes code of links, or of what is beside a reference: which kinds of problems an answer has.
  if ($ref !== undefined) return { $ref };
  return asOneForm(own) ?? withType('content' in own ? { ...own, links: undefined } : own);
}

/** The single form of an answer: its title told it from that of the other interface. Python leaves some of these out. */
function asOneForm({ oneOf }: JsonNode): JsonNode | undefined {
  if (!Array.isArray(oneOf) || oneOf.length > 1) return undefined;
  // Schemas are objects.
  const [{ title: _, ...form }] = oneOf as [JsonNode];
  return form;
}

/** A choice without a type is `interface{}` in Go; that of one boolean is an operation that Python leaves out. */
function withType(node: JsonNode): JsonNode {
  const [value]: unknown[] = Array.isArray(node['enum']) ? node['enum'] : [node['const']];
  if (typeof value === 'boolean') return { ...node, type: 'boolean', enum: undefined, const: undefined };
  if (typeof value === 'string') return { type: 'string', ...node };
  return typeof value === 'number' ? { type: 'integer', ...node } : node;
}
