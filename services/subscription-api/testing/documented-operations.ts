export type Node = Readonly<Record<string, unknown>>;

export type DocumentedAnswer = { headers: Node; content: Node; pointer: string };

/** One operation of an OpenAPI document; if there is none, the answers to a request without an operation. */
export type Operation = {
  name: string;
  /** A URI fragment that leads to it; null where there is no such operation. */
  pointer: string | null;
  needsToken: boolean;
  scopes: readonly string[];
  body: 'required' | 'optional' | 'none';
  parameters: readonly { pointer: string; value: string }[];
  /** Places of the schemas of the query's parameters, by their names; empty where the query is not looked at. */
  query: Readonly<Record<string, { pointer: string; reads: 'text' | 'json' | 'list' }>>;
  answers: Readonly<Record<string, DocumentedAnswer>>;
  /** Every answer as `<status> <kind of problem>`. */
  kinds: readonly string[];
};

export type DocumentedOperation = Operation & { method: string; path: string };

const METHODS = ['get', 'put', 'post', 'patch', 'delete'];

/** The operations of a document's paths. */
export function documentedOperations(document: Node): DocumentedOperation[] {
  return Object.entries(nodeIn(document, 'paths')).flatMap(([path, item]) =>
    METHODS.filter((method) => method in (item as Node)).map((method) => {
      const operation = nodeIn(item as Node, method);
      const pointer = `#/paths/${escape(path)}/${method}`;
      const [security = {}] = operation['security'] as Node[];
      const body = operation['requestBody'] as Node | undefined;
      const answers = answersOf(nodeIn(operation, 'responses'), `${pointer}/responses`);
      return {
        name: String(operation['operationId']),
        method: method.toUpperCase(),
        path,
        pointer,
        needsToken: 'accessToken' in security,
        scopes: (security['accessToken'] as string[] | undefined) ?? [],
        body: body === undefined ? 'none' : body['required'] === true ? 'required' : 'optional',
        parameters: [],
        query: queryOf(operation, pointer),
        answers,
        kinds: Object.entries(answers).flatMap(([status, answer]) => kindsOf(status, answer)),
      };
    }),
  );
}

/** Finds the operation of a request; the document has a shared response for an unknown path or method. */
export function findOperation(
  document: Node,
  operations: readonly DocumentedOperation[],
  { method, path }: { method: string; path: string },
): Operation {
  const onPath = operations.filter((operation) => matcher(operation.path).test(path));
  const asked = method === 'HEAD' ? 'GET' : method;
  // A literal path comes before one with a parameter.
  const [found] = onPath.filter((each) => each.method === asked).toSorted((a, b) => holes(a.path) - holes(b.path));
  if (found !== undefined) {
    const [, value] = matcher(found.path).exec(path) ?? [];
    const at = `#/paths/${escape(found.path)}/parameters/0`;
    return value === undefined ? found : { ...found, parameters: [{ pointer: at, value }] };
  }
  if (onPath.length === 0) return shared(document, 'UnknownPath', '404');
  if (method === 'OPTIONS') return options;
  return shared(document, 'MethodNotAllowed', '405');
}

/** Follows a reference. */
export function resolve(document: Node, node: Node): { node: Node; pointer?: string } {
  const pointer = node['$ref'];
  if (typeof pointer !== 'string') return { node };
  const names = pointer.slice(2).split('/');
  return { node: names.reduce((within, name) => nodeIn(within, name), document), pointer };
}

const options: Operation = {
  name: 'options',
  pointer: null,
  needsToken: false,
  scopes: [],
  body: 'none',
  parameters: [],
  query: {},
  answers: { 204: { headers: { allow: { $ref: '#/components/headers/Allow' } }, content: {}, pointer: '#' } },
  kinds: [],
};

function shared(document: Node, name: string, status: string): Operation {
  const responses = nodeIn(nodeIn(document, 'components'), 'responses');
  const pointer = '#/components/responses';
  const answerOf = (each: string) => answerAt(nodeIn(responses, each), `${pointer}/${each}`);
  return { ...options, name, answers: { [status]: answerOf(name), 400: answerOf('MalformedRequest') } };
}

function queryOf(operation: Node, pointer: string): Operation['query'] {
  const parameters = (operation['parameters'] ?? []) as Node[];
  return Object.fromEntries(
    parameters.flatMap((each, index) => {
      if (each['in'] !== 'query') return [];
      const type = String(nodeIn(each, 'schema')['type']);
      const reads = type === 'array' ? 'list' : ['integer', 'boolean'].includes(type) ? 'json' : 'text';
      return [[String(each['name']), { pointer: `${pointer}/parameters/${index}/schema`, reads }]];
    }),
  );
}

function answersOf(responses: Node, pointer: string): Record<string, DocumentedAnswer> {
  const entries = Object.entries(responses);
  return Object.fromEntries(
    entries.map(([status, answer]) => [status, answerAt(answer as Node, `${pointer}/${status}`)]),
  );
}

function answerAt(answer: Node, pointer: string): DocumentedAnswer {
  return { headers: nodeIn(answer, 'headers'), content: nodeIn(answer, 'content'), pointer };
}

function kindsOf(status: string, { content }: DocumentedAnswer): string[] {
  const schema = nodeIn(nodeIn(content, 'application/problem+json'), 'schema');
  const types = nodeIn(nodeIn(schema, 'properties'), 'type')['enum'] as string[] | undefined;
  return types === undefined ? [status] : types.map((type) => `${status} ${type}`);
}

function matcher(path: string): RegExp {
  const bare = path.replace(/\/$/, '').replaceAll('.', String.raw`\.`);
  return new RegExp(`^${bare.replaceAll(/\{\w+\}/g, '([^/]+)')}/?$`);
}

const holes = (path: string) => path.split('{').length;

// A document's parts are objects where they are there at all.
const nodeIn = (node: Node, name: string): Node => (node[name] ?? {}) as Node;

/** A name as a step of a pointer in a URI fragment. */
export function escape(name: string): string {
  return encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'));
}
