/** Reads the parameters of a request, in its query and in its path, by their schemas in the OpenAPI document. */
import type { Request } from 'express';
import type { JsonNode } from '../../operations/json-node.ts';
import { readCursor } from '@waybell/delivery-log/read/cursor';
import { isGuid } from '@waybell/events/timestamp';
import { KEY_PATTERN, LONGEST_KEY, normalizedKey } from '@waybell/events/event';
import { Problem, type ParameterFault } from './problem.ts';
import { schemaFaults } from './request-schema.ts';

/**
 * Reads the query of a request by its parameters in the OpenAPI document, where it is a T. Throws a Problem (422) that names everything
 * wrong with it.
 */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what the parameters say, which TypeScript cannot read
export function queryReader<T>(
  parameters: readonly JsonNode[],
  components?: Readonly<Record<string, JsonNode>>,
): (request: Pick<Request, 'url'>) => T {
  const schemas = new Map(parameters.map(({ name, schema }) => [String(name), schema as JsonNode]));
  const properties = Object.fromEntries(schemas);
  const faultsOf = schemaFaults({ type: 'object', properties, additionalProperties: false }, components);
  return ({ url }) => {
    const query = new URLSearchParams(url.split('?').slice(1).join('?'));
    const names = [...new Set(query.keys())];
    const values = Object.fromEntries(names.map((name) => [name, valueOf(query.getAll(name), schemas.get(name))]));
    const broken = faultsOf(values).map(({ path: [parameter = '', place], detail }) => {
      const isTime = schemas.get(parameter)?.['format'] === 'date-time';
      const item = place === undefined ? '' : `, which "${String([values[parameter]].flat()[Number(place)])}" is not`;
      return { parameter, detail: `${detail}${item}${isTime ? '; the + of an offset is written %2B' : ''}` };
    });
    const repeated = names.filter(
      (name) => schemas.has(name) && !Array.isArray(values[name]) && query.getAll(name).length > 1,
    );
    const faults = [...broken, ...repeated.map((parameter) => ({ parameter, detail: 'is there twice' }))];
    if (faults.length > 0) throw invalidParameters(faults);
    // The values fit the parameters.
    return values as T;
  };
}

/**
 * A whole number is written in digits, and no other way: JavaScript would take many. Items of an array have commas between them, or are
 * there one by one, as some generated clients write them.
 */
function valueOf(texts: string[], schema: JsonNode | undefined): string | number | boolean | string[] {
  if (schema?.['type'] === 'array') return texts.flatMap((each) => each.split(','));
  const [text = ''] = texts;
  if (schema?.['type'] === 'boolean' && ['true', 'false'].includes(text)) return text === 'true';
  return schema?.['type'] === 'integer' && /^(0|[1-9]\d{0,8})$/.test(text) ? Number(text) : text;
}

/** Returns the guid in a parameter of the path, in lower case. Throws a Problem (422) if it is none. */
export function requirePathGuid(parameter: string, text: string): string {
  if (!isGuid(text)) throw invalidParameters([{ parameter, detail: 'must be a guid' }]);
  return text.toLowerCase();
}

/** Returns the key in a parameter of the path or the query. Throws a Problem (422) if it cannot be one. */
export function requireKey(parameter: string, text: string): string {
  if (!new RegExp(KEY_PATTERN, 'u').test(text)) {
    const detail = `must be a guid, a number, a VIN or another name of something, at most ${LONGEST_KEY} characters`;
    throw invalidParameters([{ parameter, detail }]);
  }
  return normalizedKey(text);
}

const MOST_FAULTS = 20;

/** The answer (422) to parameters that break these rules. */
export function invalidParameters(faults: ParameterFault[]): Problem {
  const named = faults.slice(0, MOST_FAULTS);
  const details = named.map(({ parameter, detail }) => `${parameter} ${detail}`);
  return new Problem('invalid-parameter', details.join('; '), { faults: named });
}

export type PagingQuery = { limit: number; cursor?: string };

export function pagingOf({ limit, cursor }: PagingQuery) {
  return { limit, before: cursor === undefined ? undefined : readCursor(cursor) };
}
