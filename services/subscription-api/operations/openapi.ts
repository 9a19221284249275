/** The paths of operations as OpenAPI describes them. */
import type { Action, Interface } from '@waybell/catalog/action';
import type { ProblemKind } from '@waybell/contracts/problem-kinds';
import { deprecationHeaders, headerRef, problemAnswers, success, type Trait } from './answers.ts';

import type { OperationAnswer, LinkTarget, Operation, PathParameter, QueryFor } from './operation.ts';
import { nodeOf, object, only, type JsonNode } from './schema.ts';

/** The interfaces that are served, and their actions. */
export type ServedInterfaces = { interfaces: readonly Interface[]; catalog: readonly Action[] };

/** Describes operations by path, in their order. */
export function pathsOf(operations: readonly Operation[], described: ServedInterfaces): Record<string, JsonNode> {
  const byPath = Map.groupBy(operations, ({ path }) => path);
  return Object.fromEntries(
    [...byPath].map(([path, all]) => {
      const parameters = Object.entries(all[0]?.parameters ?? {}).map(inPath);
      const nodes = all.map((each) => [each.method, nodeFor(each, described)]);
      return [path, { ...(parameters.length > 0 && { parameters }), ...Object.fromEntries(nodes) }];
    }),
  );
}

function inPath([name, { schema, description, examples }]: [string, PathParameter]): JsonNode {
  const told = { ...(description !== undefined && { description }), ...(examples && { examples }) };
  return { name, in: 'path', required: true, schema, ...told };
}

function nodeFor(operation: Operation, described: ServedInterfaces): JsonNode {
  const { tag, id, summary, description, scope, query, headers = {}, body, answers } = operation;
  const { interfaces, catalog } = described;
  const parameters = [...parametersIn('query', query?.(interfaces, catalog) ?? {}), ...parametersIn('header', headers)];
  const schema = body?.shown ?? body?.schema;
  const isOfAction = traitsOf(operation).includes('action');
  const successes = Object.entries(answers).map(([status, answer]) => [
    status,
    answerNode(answer, { ...described, isOfAction }),
  ]);
  return {
    tags: [tag],
    operationId: id,
    summary,
    ...(description !== undefined && { description }),
    security: scope === null ? [] : [{ accessToken: scope === 'any' ? [] : [scope] }],
    ...(parameters.length > 0 && { parameters }),
    ...(schema && {
      requestBody: { required: body?.isOptional !== true, content: { 'application/json': { schema } } },
    }),
    responses: { ...Object.fromEntries(successes), ...problemAnswers(traitsOf(operation), problemsOf(operation)) },
  };
}

const parametersIn = (place: 'query' | 'header', parameters: ReturnType<QueryFor>): JsonNode[] =>
  Object.entries(parameters).map(([name, { schema, shown = schema, description, more }]) => ({
    name,
    in: place,
    description,
    schema: shown,
    ...more,
  }));

/** Traits of an operation, which imply most of its problems. */
function traitsOf({ scope, interface: interfaceName, namesAction, body, parameters }: Operation): Trait[] {
  const ofToken = scope === 'any' ? 'any-scope' : interfaceName === undefined ? 'any-interface' : 'token';
  const ofPath = new Set(Object.values(parameters).flatMap(({ trait }) => trait ?? []));
  return [
    ...(scope === null ? [] : ([ofToken] satisfies Trait[])),
    ...(namesAction === true || ofPath.has('action') ? (['action'] as const) : []),
    ...(body === undefined || body.isUnread === true ? [] : (['body'] as const)),
    ...(ofPath.has('parameters') ? (['parameters'] as const) : []),
  ];
}

const problemsOf = ({ query, problems = [] }: Operation): ProblemKind[] => [
  ...(query === undefined ? [] : (['invalid-parameter'] as const)),
  ...problems,
];

function answerNode(
  answer: OperationAnswer,
  { interfaces, isOfAction }: ServedInterfaces & { isOfAction: boolean },
): JsonNode {
  const { description, form, schema, links, content, headers } = answer;
  const node = success(
    description,
    schema && formOf(form, nodeOf(schema), interfaces),
    isOfAction ? deprecationHeaders : {},
  );
  return {
    ...node,
    ...(headers && { headers: { 'x-request-id': headerRef('RequestId'), ...headers } }),
    ...(content && Object.keys(content).length > 0 && { content }),
    ...(links.length > 0 && { links: linksOf(answer, interfaces) }),
  };
}

/** Shippers get an answer wrapped, as their other answers; carriers get it bare. */
function formOf(form: OperationAnswer['form'], schema: JsonNode, interfaces: readonly Interface[]): JsonNode {
  if (form === 'bare') return schema;
  const forms: Record<Interface, JsonNode> = {
    shipper: {
      title: 'To a token of the shipper interface',
      ...object({ status: only('success'), data: form === 'object' ? object({ object: schema }) : schema }),
    },
    carrier: { title: 'To a token of the carrier interface', ...schema },
  };
  return { oneOf: interfaces.map((name) => forms[name]) };
}

const WITHIN: Record<OperationAnswer['form'], Record<Interface, string>> = {
  object: { shipper: '/data/object', carrier: '' },
  data: { shipper: '/data', carrier: '' },
  bare: { shipper: '', carrier: '' },
};

/** Links from an answer, on each interface. */
function linksOf({ form, links }: OperationAnswer, interfaces: readonly Interface[]): JsonNode {
  if (form === 'bare') return Object.fromEntries(links.map((target) => [target.operationId, link(target, '')]));
  const named = interfaces.flatMap((name) =>
    links.map((target) => [`${target.operationId}.${name}`, link(target, WITHIN[form][name])]),
  );
  return Object.fromEntries(named);
}

function link({ operationId, at, ...target }: LinkTarget, within: string): JsonNode {
  const value = `$response.body#${within}${at}`;
  if ('parameter' in target) return { operationId, parameters: { [target.parameter]: value } };
  return { operationId, requestBody: { [target.member]: value, ...target.others } };
}
