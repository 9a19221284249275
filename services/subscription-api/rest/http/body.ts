import { raw, type Request, type RequestHandler, type Response } from 'express';
import { toPlain, type JsonValue } from '@waybell/events/json';
import { readJson as readStrictly } from '@waybell/events/read-json';
import { Problem, type Fault } from './problem.ts';
import { schemaFaults } from './request-schema.ts';

const BODY_LIMIT_BYTES = 64 * 1_024;
// Deeper than any accepted body, so that the faults of a deep one are still reported by its rules.
const MAX_DEPTH = 32;

const parseSmall = ofAtMost(BODY_LIMIT_BYTES);

/**
 * The body as JSON, whatever it holds. Throws a Problem: 415 not JSON in UTF-8, 413 too large, 400 malformed. A member
 * that is there twice is malformed: readers differ in which one counts.
 */
export async function readJson(request: Request, response: Response): Promise<unknown> {
  return toPlain(await readExactJson(request, response));
}

/** Reads a body as `readJson` does, with numbers digit for digit. */
export async function readExactJson(request: Request, response: Response): Promise<JsonValue> {
  requireJson(request.get('content-type'));
  return parseJson(await readBytes(request, response));
}

/** Reads a body as its bytes, which are to be JSON, up to this limit. Throws a Problem: 415 not JSON in UTF-8, 413 too large. */
export function jsonBytesReader(limitBytes: number): (request: Request, response: Response) => Promise<Buffer> {
  const parse = ofAtMost(limitBytes);
  return async (request, response) => {
    requireJson(request.get('content-type'));
    return readBytes(request, response, parse);
  };
}

/** Reads a body as `readJson` does, which may be missing: none and `{}` are an empty object, whatever their content type. */
export async function readOptionalJson(request: Request, response: Response): Promise<unknown> {
  const bytes = await readBytes(request, response);
  if (bytes.length === 0 || bytes.toString('latin1').replaceAll(/\s/g, '') === '{}') return {};
  requireJson(request.get('content-type'));
  return toPlain(parseJson(bytes));
}

/** Reads a body by its schema in the OpenAPI document, where it is a T. Throws a Problem (422) that names everything wrong with it. */
// oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what the schema says, which TypeScript cannot read
export function bodyReader<T>(...schema: Parameters<typeof schemaFaults>): (body: unknown) => T {
  const faultsOf = bodyFaults(...schema);
  return (body) => {
    const faults = faultsOf(body);
    if (faults.length > 0) throw invalidBody(faults);
    // The body fits the schema.
    return body as T;
  };
}

/** Finds what of a body breaks its schema, for callers that have more rules. */
export function bodyFaults(...schema: Parameters<typeof schemaFaults>): (body: unknown) => Fault[] {
  const faultsOf = schemaFaults(...schema);
  return (body) => faultsOf(body).map(({ path, detail }) => ({ pointer: pointTo(...path), detail }));
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A JSON Pointer as a URI fragment. */
export function pointTo(...path: (string | number)[]): string {
  const steps = path.map((step) => encodeURIComponent(String(step).replaceAll('~', '~0').replaceAll('/', '~1')));
  return ['#', ...steps].join('/');
}

// A body that is wrong from end to end must not be answered with many times its size.
const MOST_FAULTS = 100;

/** Names the last of several faults at one place: rules come after the schema, and say more. */
export function invalidBody(faults: Fault[]): Problem {
  const places = [...new Map(faults.map((fault) => [fault.pointer, fault])).values()];
  const named = places.slice(0, MOST_FAULTS);
  const others = places.length - named.length;
  const details = named.map((fault) => `${fault.pointer} ${fault.detail}`);
  if (others > 0) details.push(`and ${others} more`);
  return new Problem('invalid-body', details.join('; '), { faults: named });
}

function ofAtMost(limit: number): RequestHandler {
  return raw({ type: () => true, limit });
}

async function readBytes(request: Request, response: Response, parse = parseSmall): Promise<Buffer> {
  await new Promise<void>((resolve, reject) => {
    void parse(request, response, (error?: unknown) => (error === undefined ? resolve() : reject(error)));
  });
  const body: unknown = request.body;
  return Buffer.isBuffer(body) ? body : Buffer.alloc(0);
}

function requireJson(contentType = ''): void {
  const [type = '', ...parameters] = contentType
    .toLowerCase()
    .split(';')
    .map((each) => each.trim());
  if (type !== 'application/json') {
    throw new Problem('unsupported-media-type', 'Send the header "Content-Type: application/json; charset=utf-8".');
  }
  const charsets = parameters.filter((parameter) => /^charset\s*=/.test(parameter));
  const other = charsets.find((charset) => !/^charset\s*=\s*"?utf-?8"?$/.test(charset));
  if (other !== undefined) throw new Problem('unsupported-media-type', `The charset must be utf-8, not "${other}".`);
}

function parseJson(bytes: Buffer): JsonValue {
  const reading = readStrictly(bytes, MAX_DEPTH);
  if (reading.kind === 'invalid') throw new Problem('invalid-json', `The body is not valid JSON: ${reading.detail}.`);
  return reading.value;
}
