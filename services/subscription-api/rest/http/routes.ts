import type { RequestHandler, Response, Router } from 'express';
import type { Action } from '@waybell/catalog/action';
import type { CallbackRules } from '../../callback-url.ts';
import type { Database } from '../../database.ts';
import type { CredentialsStore } from '../../receiver-credentials.ts';
import type { SigningSecrets } from '../../signing-secrets.ts';
import type { Subscriptions } from '../../subscriptions.ts';
import type { Authenticate, Caller } from '../authentication/authenticate.ts';
import type { AwaitEnds } from '../deliveries/await-ends.ts';
import type { Live } from '../live/live.ts';
import { Problem } from './problem.ts';

/** Dependencies of the routes of either interface. */
export type RouteOptions = {
  authenticate: Authenticate;
  subscriptions: Subscriptions;
  signingSecrets: SigningSecrets;
  credentials: CredentialsStore;
  database: Pick<Database, 'askLog' | 'change'>;
  catalog: readonly Action[];
  callbackRules: CallbackRules;
  /** Limit of the wait of a delivery, and so of the pause of a subscription. */
  maxAgeMs: number;
  live: Live;
  awaiting: AwaitEnds;
};

/** Dependencies of the routes of one interface. */
export type ActionRouteOptions = Pick<RouteOptions, 'authenticate' | 'subscriptions' | 'catalog' | 'callbackRules'>;

const METHODS = ['get', 'put', 'post', 'patch', 'delete'] as const;

type Method = (typeof METHODS)[number];

type OfAction = { action: string };
/** The guid in a path, as Express reads it. */
export type GuidParams = { guid: string };

/** Adds the handlers of a path; with any other method it answers 405 and names the right ones. */
export function addPath<Params = OfAction>(
  router: Router,
  paths: string[],
  handlers: Partial<Record<Method, RequestHandler<Params>>>,
): void {
  const offered = METHODS.filter((method) => handlers[method] !== undefined);
  const names = offered.flatMap((method) => (method === 'get' ? ['GET', 'HEAD'] : [method.toUpperCase()]));
  const allow = names.join(', ');
  const route = router.route(paths);
  for (const method of offered) {
    const handler = handlers[method];
    // Paths without a parameter have handlers that read none.
    if (handler !== undefined) route[method](handler as RequestHandler);
  }
  route.all((request, response: Response) => {
    response.set('allow', allow);
    if (request.method !== 'OPTIONS') throw new Problem('method-not-allowed', `Allowed here: ${allow}.`);
    response.status(204).end();
  });
}

type ForCaller = Pick<Caller, 'interface'>;

/** Answers in the form of the caller's interface: shippers get data wrapped. */
export function answerFor({ interface: interfaceName }: ForCaller, response: Response, data: object): void {
  response.json(interfaceName === 'shipper' ? { status: 'success', data } : data);
}

/** Answers with one object, in the form of the caller's interface. */
export function answerObject(caller: ForCaller, response: Response, object: object): void {
  answerFor(caller, response, caller.interface === 'shipper' ? { object } : object);
}
