import { Ajv2020, type ErrorObject } from 'ajv/dist/2020.js';
import type { JsonNode } from '../../operations/schema.ts';
import { isGuid, readTimestamp } from '@waybell/events/timestamp';

/** A place in a request, and the demand of its schema. */
export type SchemaFault = { path: string[]; detail: string };

type Schemas = Readonly<Record<string, JsonNode>>;

// Reports all faults at once. Requests are bounded, and no schema of a request compares items with each other.
const ajv = new Ajv2020({
  allErrors: true,
  verbose: true,
  useDefaults: true,
  allowUnionTypes: true,
  strictTypes: false,
});
ajv.addVocabulary(['components']);
ajv.addFormat('uuid', isGuid);
ajv.addFormat('date-time', (text: string) => readTimestamp(text) !== null);
// It says how a field is shown to people.
ajv.addFormat('password', true);
// The rules for callback URLs say more.
ajv.addFormat('uri', true);

/**
 * Finds what of a value breaks a schema of the OpenAPI document, which may refer to `components`; one fault for each place. Defaults of
 * the schema are put into the value.
 */
export function schemaFaults(schema: JsonNode, components: Schemas = {}): (value: unknown) => SchemaFault[] {
  const validate = ajv.compile({ ...schema, components: { schemas: components } });
  return (value) => {
    const faults = validate(value) ? [] : (validate.errors ?? []).map((error) => faultOf(error, components));
    return [...new Map(faults.map((fault) => [JSON.stringify(fault.path), fault])).values()];
  };
}

function faultOf({ keyword, instancePath, params, parentSchema = {} }: ErrorObject, components: Schemas): SchemaFault {
  const path = instancePath.split('/').slice(1).map(unescaped);
  if (keyword === 'required') return { path: [...path, String(params['missingProperty'])], detail: 'is required' };
  if (keyword === 'additionalProperties') {
    const known = Object.keys(parentSchema['properties'] ?? {}).join(', ') || 'none';
    return { path: [...path, String(params['additionalProperty'])], detail: `is not known here; known are: ${known}` };
  }
  return { path, detail: demandOf(parentSchema, components) };
}

const unescaped = (step: string): string => step.replaceAll('~1', '/').replaceAll('~0', '~');

const FORMATS: Readonly<Record<string, string>> = {
  uuid: 'must be a guid',
  'date-time': 'must be an RFC 3339 timestamp such as 2026-11-20T09:30:00Z',
};

/** Describes what a schema demands; for a pattern, in the words of the schema's description. */
function demandOf(schema: JsonNode, components: Schemas): string {
  const { type, format, minimum, maximum, maxLength, pattern, description, items } = schema;
  if (Array.isArray(schema['enum'])) return `must be one of: ${schema['enum'].join(', ')}`;
  if (typeof format === 'string' && format in FORMATS) return String(FORMATS[format]);
  if (pattern !== undefined) return `must be ${String(description)}`;
  switch ([type].flat()[0]) {
    case 'object':
      return 'must be a JSON object';
    case 'array':
      return [
        `must be an array${schema['minItems'] === 1 ? ' with at least one item' : ''}`,
        ...(items === undefined ? [] : [`each ${demandOf(named(items, components), components)}`]),
      ].join('; ');
    case 'integer':
      return `must be a whole number from ${String(minimum)} to ${String(maximum)}`;
    case 'boolean':
      return 'must be true or false';
    default:
      return typeof maxLength === 'number' ? `must be a string of at most ${maxLength} characters` : 'must be a string';
  }
}

/** The schema, or the one among the components that it refers to. */
function named(schema: unknown, components: Schemas): JsonNode {
  // Items have a schema.
  const node = schema as JsonNode;
  return components[String(node['$ref']).split('/').at(-1) ?? ''] ?? node;
}
