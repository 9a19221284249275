/** Serves operations: each request is read by the schemas of its operation, handled, and answered by the schema of the answer. */
import { Router, type Request, type RequestHandler, type Response } from 'express';
import type { Static, TSchema } from 'typebox';
import type { Action, Interface } from '@waybell/catalog/action';
import { toPlain, type JsonValue } from '@waybell/events/json';
import { requireRight, requireScope, type Authenticate, type Caller } from '../rest/authentication/authenticate.ts';
import { bodyFaults, invalidBody, readExactJson, readJson, readOptionalJson } from '../rest/http/body.ts';
import { queryReader } from '../rest/http/read-query.ts';
import { Problem } from '../rest/http/problem.ts';
import {
  Replied,
  type OperationAnswer,
  type RequestBody,
  type Method,
  type Operation,
  type QueryFor,
  type Served,
  type UnjudgedBody,
} from './operation.ts';
import { componentsIn, nodeOf } from './schema.ts';
import { wire } from './wire.ts';

export type ServingOptions<Uses> = {
  authenticate: Authenticate;
  catalog: readonly Action[];
  services: Uses;
};

/** Serves these operations, each path with the methods that it has. */
export function serveOperations<Uses>(operations: readonly Operation<Uses>[], serving: ServingOptions<Uses>): Router {
  const router = Router({ caseSensitive: true });
  for (const [path, all] of Map.groupBy(operations, ({ path: each }) => each)) {
    const handlers = Object.fromEntries(all.map((each) => [each.method, handlerOf(each, serving)]));
    addPath(router, path.replaceAll(/\{(\w+)\}/g, ':$1').replace(/(?<=.)\/$/, ''), handlers);
  }
  return router;
}

function handlerOf<Uses>(operation: Operation<Uses>, { authenticate, catalog, services }: ServingOptions<Uses>) {
  const readQuery = queryReaders(operation, catalog);
  const readBody =
    operation.body?.isUnread === true ? undefined : operation.body && bodyReader(operation.body, catalog);
  return async (request: Request<Record<string, string>>, response: Response): Promise<void> => {
    // Handlers of operations without a token ask for no caller.
    const caller = (await admit(operation, authenticate, request)) as Caller;
    const served: Served<Uses> = { caller, request, response, services };
    const path: Record<string, unknown> = {};
    for (const [name, parameter] of Object.entries(operation.parameters))
      path[name] = parameter.read(request.params[name] ?? '', served as never);
    const query = readQuery(caller?.interface, request);
    const body = await readBody?.(request, response);
    // These are what its parts read.
    const answer: unknown = await operation.handle({ ...served, path, query, body } as never);
    reply(operation, answer, served);
  };
}

async function admit({ scope, interface: interfaceName }: Operation, authenticate: Authenticate, request: Request) {
  if (scope === null) return undefined;
  const caller = await authenticate(request);
  if (scope === 'any') return caller;
  if (interfaceName !== undefined) requireRight(caller, { interface: interfaceName, scope });
  else requireScope(caller, scope);
  return caller;
}

/** Made when they are first used: an API serves many operations that few ask for. */
function lately<T>(make: () => T): () => T {
  let made: { value: T } | undefined;
  return () => (made ??= { value: make() }).value;
}

function queryReaders({ query }: Operation, catalog: readonly Action[]) {
  if (query === undefined) return () => ({});
  const of = (names: readonly Interface[]) => lately(() => readerOf(query(names, catalog), catalog));
  const readers = { shipper: of(['shipper']), carrier: of(['carrier']), any: of(['shipper', 'carrier']) };
  return (interfaceName: Interface | undefined, request: Request) => readers[interfaceName ?? 'any']()(request);
}

function readerOf(query: ReturnType<QueryFor>, catalog: readonly Action[]) {
  const parameters = Object.entries(query).map(([name, { schema }]) => ({ name, schema: nodeOf(schema) }));
  return queryReader(parameters, componentsIn([parameters], catalog));
}

function bodyReader(
  { schema, isOptional, isExact, isUnjudged }: RequestBody,
  catalog: readonly Action[],
): (request: Request, response: Response) => Promise<unknown> {
  const judge = judging(schema, catalog);
  const readText = isExact === true ? readExactJson : isOptional === true ? readOptionalJson : readJson;
  return async (request, response) => {
    const body = judge(await readText(request, response), { isExact: isExact === true });
    return isUnjudged === true ? body : body.fitting();
  };
}

/** Finds the faults of bodies by a schema. */
export function judging<T extends TSchema>(schema: T, catalog: readonly Action[] = []) {
  const faultsOf = lately(() => bodyFaults(nodeOf(schema), componentsIn([schema], catalog)));
  return (value: unknown, { isExact }: { isExact: boolean } = { isExact: false }): UnjudgedBody<Static<T>> => {
    // An exact value is JSON.
    const faults = faultsOf()(isExact ? toPlain(value as JsonValue) : value);
    return {
      value,
      faults,
      fitting(others = []) {
        if (faults.length + others.length > 0) throw invalidBody([...faults, ...others]);
        // It fits the schema.
        return value as Static<T>;
      },
    };
  };
}

function reply({ answers }: Operation, answered: unknown, { caller, response }: Served<unknown>): void {
  const [status = '200'] = Object.keys(answers);
  const { value, context, ...replied } =
    answered instanceof Replied ? answered : new Replied(Number(status), answered, caller);
  const answer = answers[replied.status];
  if (answer === undefined) throw new Error(`an operation answers ${replied.status}, which it does not describe`);
  // Its handler has sent it.
  if (answer.content !== undefined) return;
  if (answer.schema === null) return void response.status(replied.status).end();
  response.status(replied.status).json(wrapped(answer.form, wire(answer.schema, value, context), caller));
}

/** Shippers get data wrapped. */
function wrapped(form: OperationAnswer['form'], written: unknown, caller: Caller | undefined): unknown {
  if (form === 'bare' || caller?.interface !== 'shipper') return written;
  return { status: 'success', data: form === 'object' ? { object: written } : written };
}

const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;

/** Adds the handlers of a path; with any other method it answers 405 and names the right ones. */
export function addPath(
  router: Router,
  path: string,
  handlers: Partial<Record<Method, RequestHandler<Record<string, string>>>>,
): void {
  const offered = METHODS.filter((method) => handlers[method] !== undefined);
  const names = offered.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
  const allow = names.join(', ');
  const route = router.route(path);
  for (const method of offered) {
    const handler = handlers[method];
    if (handler !== undefined) route[method](handler);
  }
  route.all((request, response: Response) => {
    response.set('allow', allow);
    if (request.method !== 'OPTIONS') throw new Problem('method-not-allowed', `Allowed here: ${allow}.`);
    response.status(204).end();
  });
}
