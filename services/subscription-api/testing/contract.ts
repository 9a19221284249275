import { gunzipSync } from 'node:zlib';
import addFormats from 'ajv-formats';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import {
  documentedOperations,
  escape,
  findOperation,
  resolve,
  type DocumentedOperation,
  type Node,
  type Operation,
} from './documented-operations.ts';

/** One request and its answer, as far as the contract covers them. */
export type Exchange = {
  method: string;
  path: string;
  query: URLSearchParams;
  requestHeaders: Headers;
  requestBody: Buffer;
  status: number;
  headers: Headers;
  text: string;
};

export type Contract = {
  /** Throws unless the OpenAPI document covers this answer, and this request if it was accepted. */
  check(exchange: Exchange): void;
  /** Answers seen, as `<operation> <status> <kind of problem, if it is one>`. */
  seen: Set<string>;
  /** All operations and answers of the document, written the same way. */
  documented: Set<string>;
};

type ReadDocument = { document: Node; operations: DocumentedOperation[]; validate: ReturnType<typeof validators> };

const READERS = {
  text: (text: string): unknown => text,
  json: (text: string): unknown => JSON.parse(text),
  list: (text: string): unknown => text.split(','),
};

/** Documents by their text. Several stands of a test have the same, and it takes long to read. */
const known = new Map<string, ReadDocument>();

function readDocument(text: string): ReadDocument {
  // An OpenAPI document is an object.
  const document = JSON.parse(text) as Node;
  return { document, operations: documentedOperations(document), validate: validators(document) };
}

/** Holds every exchange of a running API against its own OpenAPI document. */
export function contractOf(written: string): Contract {
  const { document, operations, validate } = known.get(written) ?? readDocument(written);
  known.set(written, { document, operations, validate });
  const seen = new Set<string>();

  function check(exchange: Exchange): void {
    const operation = findOperation(document, operations, exchange);
    const faults = [...answerFaults(exchange, operation), ...requestFaults(exchange, operation)];
    seen.add(`${operation.name} ${exchange.status} ${problemType(exchange)}`.trim());
    if (faults.length > 0) {
      const { method, path, status, text } = exchange;
      throw new Error(
        `${method} ${path} answered ${status}, and openapi.json says otherwise: ${faults.join('; ')}\n${text}`,
      );
    }
  }

  function answerFaults({ method, status, headers, text }: Exchange, { answers }: Operation): string[] {
    const answer = answers[String(status)];
    if (answer === undefined) return ['the status is not documented'];
    return [...headerFaults(headers, answer), ...bodyFaults({ method, status, headers, text }, answer)];
  }

  function headerFaults(headers: Headers, answer: { headers: Node; pointer: string }): string[] {
    return Object.keys(answer.headers).flatMap((name) => {
      const header = resolve(document, answer.headers[name] as Node);
      const value = headers.get(name);
      if (value === null) return header.node['required'] === true ? [`the header ${name} is missing`] : [];
      return validate(`${header.pointer ?? `${answer.pointer}/headers/${name}`}/schema`, value);
    });
  }

  function bodyFaults(
    { method, status, headers, text }: Pick<Exchange, 'method' | 'status' | 'headers' | 'text'>,
    { content, pointer }: { content: Node; pointer: string },
  ): string[] {
    if (text === '') return method === 'HEAD' || Object.keys(content).length === 0 ? [] : ['the body is empty'];
    const type = (headers.get('content-type') ?? '').split(';', 1)[0] ?? '';
    if (content[type] === undefined) return [`a body of type "${type}" with ${status} is not documented`];
    const body: unknown = type.endsWith('json') ? JSON.parse(text) : text;
    return validate(`${pointer}/content/${escape(type)}/schema`, body);
  }

  function requestFaults(exchange: Exchange, operation: Operation): string[] {
    if (exchange.status >= 300 || operation.pointer === null) return [];
    const parameters = operation.parameters.flatMap(({ pointer, value }) => validate(`${pointer}/schema`, value));
    const hasToken = /^bearer /i.test(exchange.requestHeaders.get('authorization') ?? '');
    return [
      ...parameters,
      ...queryFaults(exchange, operation),
      ...(!operation.needsToken || hasToken ? [] : ['it was accepted without a token']),
      ...requestBodyFaults(exchange, operation),
    ];
  }

  function queryFaults({ query: asked }: Exchange, { query }: Operation): string[] {
    if (Object.keys(query).length === 0) return [];
    return [...asked].flatMap(([name, text]) => {
      const parameter = query[name];
      if (parameter === undefined) return [`it was accepted with "${name}" in its query`];
      return validate(parameter.pointer, READERS[parameter.reads](text));
    });
  }

  function requestBodyFaults({ requestHeaders, requestBody }: Exchange, { body, pointer }: Operation): string[] {
    if (requestBody.length === 0) return body === 'required' ? ['it was accepted without a body'] : [];
    if (body === 'none') return ['it was accepted with a body'];
    const isGzip = requestHeaders.get('content-encoding') === 'gzip';
    const bytes = isGzip ? gunzipSync(requestBody) : requestBody;
    return validate(`${pointer}/requestBody/content/application~1json/schema`, JSON.parse(bytes.toString('utf8')));
  }

  const documented = new Set(operations.flatMap(({ name, kinds }) => kinds.map((kind) => `${name} ${kind}`.trim())));
  return { check, seen, documented };
}

function problemType({ headers, text }: Exchange): string {
  if (headers.get('content-type') !== 'application/problem+json' || text === '') return '';
  return String((JSON.parse(text) as { type?: unknown }).type);
}

/** Validates against the schema at a pointer; a member that no schema names is a fault. */
function validators(document: Node): (pointer: string, value: unknown) => string[] {
  const ajv = addFormats.default(new Ajv2020({ strict: false, validateSchema: false, allErrors: true }));
  // Webhooks are no answers, and the larger part of the document.
  ajv.addSchema(closed({ ...document, webhooks: {} }) as object, 'openapi.json');
  const compiled = new Map<string, ValidateFunction>();
  return (pointer, value) => {
    const validate = compiled.get(pointer) ?? ajv.compile({ $ref: `openapi.json${pointer}` });
    compiled.set(pointer, validate);
    if (validate(value)) return [];
    return (validate.errors ?? []).map(({ instancePath, message }) => `${pointer}: ${instancePath} ${message}`);
  };
}

/** The document with every object that lists its members holding no others. */
function closed(node: unknown): unknown {
  if (Array.isArray(node)) return node.map(closed);
  if (typeof node !== 'object' || node === null) return node;
  const copy = Object.fromEntries(Object.entries(node).map(([name, value]) => [name, closed(value)]));
  return copy['type'] === 'object' && 'properties' in copy ? { ...copy, unevaluatedProperties: false } : copy;
}
