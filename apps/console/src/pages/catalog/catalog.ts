import { useQuery } from '@tanstack/react-query';
import { root } from '../../api/ask.ts';
import { isObject, problemOf, unreachable } from '../../api/problem.ts';
import { troubleOf } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';

/** A JSON Schema, as far as it is shown. */
export type Schema = {
  type?: string | string[];
  const?: unknown;
  enum?: unknown[];
  format?: string;
  description?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  title?: string;
  anyOf?: Schema[];
};

/** The documentation of an action: the schema of its notification, and an example. */
export type Described = { schema: Schema; examples: { name: string; text: string }[] };

/** The published document has an example of each action; it is large, and asked for once. */
export function useDescribed(action: string) {
  const { interface: interfaceName } = useSignedIn();
  const name = `${interfaceName}.${action}`;
  const document = useQuery({ queryKey: ['openapi.json'], queryFn: () => read('openapi.json'), staleTime: Infinity });
  const schema = useQuery({
    queryKey: ['schema', name],
    queryFn: () => read(`schemas/${name}.notification.json`),
    staleTime: Infinity,
    enabled: action !== '',
  });
  const { error, failureReason, refetch } = troubleOf(schema) === null ? document : schema;
  const isThere = document.data !== undefined && schema.data !== undefined;
  // The meta-schema of JSON Schema describes it so.
  const data = isThere ? { schema: schema.data as Schema, examples: examplesOf(document.data, name) } : undefined;
  return { data, error, failureReason, refetch };
}

async function read(path: string): Promise<unknown> {
  const response = await fetch(new URL(path, root)).catch(() => {
    throw unreachable();
  });
  if (!response.ok) throw problemOf(response, undefined);
  return response.json();
}

function examplesOf(document: unknown, name: string): Described['examples'] {
  const content = at(document, 'webhooks', name, 'post', 'requestBody', 'content', 'application/json');
  const several = at(content, 'examples');
  if (isObject(several)) {
    return Object.entries(several).map(([key, each]) => ({ name: key, text: written(at(each, 'value')) }));
  }
  const one = at(content, 'example');
  return one === undefined ? [] : [{ name: 'example', text: written(one) }];
}

const written = (value: unknown): string => JSON.stringify(value, null, 2);

function at(value: unknown, ...path: string[]): unknown {
  return path.reduce((found, step) => (isObject(found) ? found[step] : undefined), value);
}
