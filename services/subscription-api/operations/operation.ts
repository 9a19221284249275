/**
 * An operation of the API: all there is of it in one place. It is served by serve-operations.ts, and described in the documents by
 * openapi.ts.
 *
 *     request ── caller has the scope ── path ── query ── body ── handle ── wire, by the schema of the answer ──> answer
 *
 * A request is read by the schemas here before `handle` sees it; `handle` returns a row, which is written by the answer's schema.
 */
import type { Request, Response } from 'express';
import { Type, type Static, type TSchema } from 'typebox';
import type { Action, Interface } from '@waybell/catalog/action';
import type { ProblemKind } from '@waybell/contracts/problem-kinds';
import type { JsonValue } from '@waybell/events/json';
import type { Scope } from '../tokens.ts';
import type { Caller } from '../rest/authentication/authenticate.ts';
import type { Fault } from '../rest/http/problem.ts';
import { requirePathGuid } from '../rest/http/read-query.ts';
import { guid, type JsonNode } from './schema.ts';

export type Method = 'get' | 'put' | 'post' | 'patch' | 'delete';

/** A parameter of the path: `read` throws a Problem where the text is none. */
export type PathParameter<Value = unknown> = {
  schema: TSchema;
  description?: string;
  examples?: JsonNode;
  /** How a text that is none is answered: with the problems of an action, or of a parameter; else by problems of the operation. */
  trait?: 'action' | 'parameters';
  read(text: string, asked: Served<never>): Value;
};

/** A parameter of the query, optional unless `isGiven`. */
export type QueryParameter<Schema extends TSchema = TSchema, IsGiven extends boolean = boolean> = {
  schema: Schema;
  description: string;
  isGiven: IsGiven;
  /** Another schema for the document. */
  shown?: TSchema;
  /** Further members of its node in the document. */
  more?: JsonNode;
};

/** A request, and its caller where the operation takes a token. */
export type Served<Uses> = { caller: Caller; request: Request; response: Response; services: Uses };

type PathParameters = Readonly<Record<string, PathParameter>>;
type QueryParameters = Readonly<Record<string, QueryParameter>>;
type NoParameters = Readonly<Record<string, never>>;

type PathOf<P> = { [Name in keyof P]: P[Name] extends PathParameter<infer Value> ? Value : never };
/** The values of a query, by its parameters. */
export type QueryOf<Q> = {
  [Name in keyof Q as Q[Name] extends QueryParameter<TSchema, true> ? Name : never]: SchemaOf<Q[Name]>;
} & { [Name in keyof Q as Q[Name] extends QueryParameter<TSchema, true> ? never : Name]?: SchemaOf<Q[Name]> };
type SchemaOf<Parameter> = Parameter extends QueryParameter<infer Schema> ? Static<Schema> : never;

/** A body: JSON that fits a schema. */
export type RequestBody = {
  schema: TSchema;
  /** Another node for the document. */
  shown?: TSchema;
  /** Fine without one too. */
  isOptional?: boolean;
  /** Numbers digit for digit. */
  isExact?: boolean;
  /** There are rules that no schema says: `handle` gets an UnjudgedBody, and tells the faults by both together. */
  isUnjudged?: boolean;
  /** `handle` reads it, and the operation names its problems. */
  isUnread?: boolean;
};

/** A body as it came, and its faults by its schema. */
export type UnjudgedBody<Value, Came = unknown> = {
  value: Came;
  faults: readonly Fault[];
  /** Returns it as it fits the schema. Throws a Problem (422) that names its faults, these too, if there are any. */
  fitting(others?: readonly Fault[]): Value;
};

/** The wrapping for shippers: as the `object` of the data, or as the data. Others get it bare. */
type Form = 'object' | 'data' | 'bare';

/**
 * A link from an answer to another operation: the value at this place of the answer is a parameter of it, or a member of its body, with an
 * example for the other members.
 */
export type LinkTarget = { operationId: string; at: string } & (
  | { parameter: string }
  | { member: string; others: JsonNode }
);

/** Each of these operations takes the guid that is at this place. */
export const byGuid = (at: string, ...operationIds: string[]): LinkTarget[] =>
  operationIds.map((operationId) => ({ operationId, parameter: 'guid', at }));

/** An answer of an operation that succeeds. */
export type OperationAnswer = {
  description: string;
  form: Form;
  /** Null without a body. */
  schema: TSchema | null;
  links: readonly LinkTarget[];
  /** The node of its content, where it is no JSON. */
  content?: JsonNode;
  /** Headers beside the id of the request, in place of those about limits. */
  headers?: JsonNode;
};

type AnswerMaker = (description: string, schema: TSchema, links?: readonly LinkTarget[]) => OperationAnswer;
const made =
  (form: Form): AnswerMaker =>
  (description, schema, links = []) => ({ description, form, schema, links });

export const one = made('object');
export const data = made('data');
export const bare = made('bare');
export const nothing = (description: string): OperationAnswer => ({
  description,
  form: 'bare',
  schema: null,
  links: [],
});
/** An answer that `handle` sends by itself. */
export const sent = (description: string, content: JsonNode, headers?: JsonNode): OperationAnswer => ({
  ...nothing(description),
  content,
  ...(headers && { headers }),
});

/** One of several answers, where an operation has several. `context`: what sources of the schema are given. */
export class Replied {
  readonly status: number;
  readonly value: unknown;
  readonly context: unknown;
  constructor(status: number, value: unknown, context?: unknown) {
    this.status = status;
    this.value = value;
    this.context = context;
  }
}

type OperationHead = {
  method: Method;
  /** As OpenAPI writes it: `/v1/subscriptions/{guid}`. */
  path: string;
  /** The name that generated clients give it. */
  id: string;
  tag: string;
  summary: string;
  description?: string;
  /** The scope that the token must have; `any`: whichever; null: no token is asked for. */
  scope: Scope | 'any' | null;
  /** The one interface that it is of. */
  interface?: Interface;
  /** Its body has the name of an action: answers say whether that is deprecated. */
  namesAction?: true;
  answers: Readonly<Record<number, OperationAnswer>>;
  /** Problems beyond those that every operation of its kind has. */
  problems?: readonly ProblemKind[];
  /** Components that its texts name. */
  also?: readonly TSchema[];
  /** Headers that `handle` reads. */
  headers?: QueryParameters;
};

/** An operation, whatever its parts are. */
export type Operation<Uses = never> = OperationHead & {
  parameters: PathParameters;
  /** Undefined: the query is not looked at. */
  query: QueryFor | undefined;
  body: RequestBody | undefined;
  handle: (asked: Asked<Uses>) => unknown;
};

/** The query's parameters as these interfaces have them. */
export type QueryFor = (interfaces: readonly Interface[], catalog: readonly Action[]) => QueryParameters;

type Asked<Uses> = Served<Uses> & { path: never; query: never; body: never };

type OperationParts<Uses, P extends PathParameters, Q extends QueryParameters, B> = OperationHead & {
  parameters?: P;
  query?: Q | ((interfaces: readonly Interface[], catalog: readonly Action[]) => Q);
  body?: B;
  handle: (asked: Served<Uses> & { path: PathOf<P>; query: QueryOf<Q>; body: BodyOf<B> }) => unknown;
};

type BodyOf<B> = B extends { isUnread: true }
  ? undefined
  : B extends { schema: infer Schema extends TSchema }
    ? B extends { isUnjudged: true }
      ? UnjudgedBody<Static<Schema>, B extends { isExact: true } ? JsonValue : unknown>
      : Static<Schema>
    : undefined;

/** Makes operations whose handlers use these services. */
export function operationsOf<Uses>() {
  return <
    const P extends PathParameters = NoParameters,
    const Q extends QueryParameters = NoParameters,
    const B extends RequestBody | undefined = undefined,
  >({
    parameters,
    query,
    body,
    handle,
    ...told
  }: OperationParts<Uses, P, Q, B>): Operation<Uses> => ({
    ...told,
    parameters: parameters ?? {},
    query: query === undefined || typeof query === 'function' ? query : () => query,
    body,
    handle,
  });
}

export const guidInPath = (description?: string): PathParameter<string> => ({
  schema: guid(),
  ...(description !== undefined && { description }),
  trait: 'parameters',
  read: (value) => requirePathGuid('guid', value),
});

/** A parameter that may be left out. */
export const parameter = <Schema extends TSchema>(description: string, schema: Schema, more?: JsonNode) =>
  ({ schema, description, isGiven: false, ...(more && { more }) }) satisfies QueryParameter<Schema, false>;

/** A parameter that has a default. */
export const defaultedParameter = <Schema extends TSchema>(description: string, schema: Schema) =>
  ({ schema, description, isGiven: true }) satisfies QueryParameter<Schema, true>;

/** The query of operations that take none. */
export const noQuery = {};

/** A body that says nothing; there may be none as well. */
export const noBody = {
  schema: Type.Unsafe<object>({ type: 'object', additionalProperties: false }),
  isOptional: true,
} satisfies RequestBody;
