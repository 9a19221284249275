import { jsonOf, type JsonNode } from './json-node.ts';

/** A body that says nothing; there may be none as well. */
export const nothing: JsonNode = { type: 'object', additionalProperties: false };

export const noBody: JsonNode = { required: false, content: jsonOf(nothing) };
