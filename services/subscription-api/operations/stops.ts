/**
 * Stops and starts subscriptions and hosts: as `./waybell subscription stop` and `./waybell host`, by the same functions. The audit log
 * names the operator.
 */
import { hostNamed } from '../callback-url.ts';
import { invalidParameters } from '../rest/http/read-query.ts';
import { listStops, startHost, startSubscription, stopHost, stopRequest, stopSubscription } from '../stops.ts';
import {
  bare,
  byGuid,
  guidInPath,
  noBody,
  noQuery,
  nothing,
  operationsOf,
  Replied,
  type PathParameter,
} from './operation.ts';
import { namesOf, OperatorSubscription } from './operator-schemas.ts';
import { component, count, list, object, text } from './schema.ts';
import type { OperatorServices } from './services.ts';
import { stopped } from './subscriptions.ts';

const StoppedHost = component(
  'StoppedHost',
  object({ host: text(), ...stopped.properties, subscriptions: count('Current ones whose callbacks go there.') }),
);

const Stops = component(
  'Stops',
  object({
    subscriptions: list(OperatorSubscription, 'Also those that their clients ended: new ones are still stopped.'),
    hosts: list(StoppedHost),
  }),
);

const host: PathParameter<string> = {
  schema: text({ examples: ['receiver.example.com'] }),
  description: 'Without a port.',
  trait: 'parameters',
  read(value) {
    const named = hostNamed(value);
    if (named !== undefined) return named;
    const detail = 'must be a host such as receiver.example.com, without a port';
    throw invalidParameters([{ parameter: 'host', detail }]);
  },
};

const operation = operationsOf<Pick<OperatorServices, 'database'>>();

const common = { tag: 'Stops', scope: 'admin' } as const;
const ofSubscription = {
  ...common,
  method: 'post',
  parameters: { guid: guidInPath() },
  answers: {
    200: bare('The subscription that its client has to the action now, or had last.', OperatorSubscription),
  },
} as const;
const ofHost = { ...common, method: 'post', parameters: { host } } as const;

export const stopOperations = [
  operation({
    ...common,
    method: 'get',
    path: '/v1/admin/stops',
    id: 'listStops',
    summary: 'List the subscriptions and the hosts that are stopped',
    description: 'The one that was stopped last comes first.',
    query: noQuery,
    answers: { 200: bare('What is stopped.', Stops, byGuid('/subscriptions/0/guid', 'startSubscription')) },
    handle: ({ services: { database } }) =>
      database.askLog(async (postgres) => {
        const stops = await listStops(postgres);
        return new Replied(200, stops, await namesOf(postgres, stops.subscriptions));
      }),
  }),

  operation({
    ...ofSubscription,
    path: '/v1/admin/subscriptions/{guid}/stop',
    id: 'stopSubscription',
    summary: 'Have the deliveries of a subscription wait',
    description:
      'Until it is started, or they are too old. Its client sees that, and why, and cannot end it: a new subscription is still stopped. Stopped again, the new reason counts.',
    body: { schema: stopRequest },
    problems: ['not-subscribed'],
    handle: ({ caller, path, body, services: { database } }) =>
      database.change(caller.actor, async (postgres) => {
        const entry = await stopSubscription(postgres, { ...path, ...body });
        return new Replied(200, entry, await namesOf(postgres, [entry]));
      }),
  }),

  operation({
    ...ofSubscription,
    path: '/v1/admin/subscriptions/{guid}/start',
    id: 'startSubscription',
    summary: 'Have a stopped subscription go on',
    description: 'What waits is sent now, unless it is paused, or its host is stopped.',
    body: noBody,
    problems: ['not-subscribed', 'not-stopped'],
    handle: ({ caller, path, services: { database } }) =>
      database.change(caller.actor, async (postgres) => {
        const entry = await startSubscription(postgres, path.guid);
        return new Replied(200, entry, await namesOf(postgres, [entry]));
      }),
  }),

  operation({
    ...ofHost,
    path: '/v1/admin/hosts/{host}/stop',
    id: 'stopHost',
    summary: 'Have all callbacks to a host wait',
    description:
      'Whichever accounts they are of, to any port, until it is started, or they are too old. Clients see that, and why. Stopped again, the new reason counts.',
    body: { schema: stopRequest },
    answers: { 200: bare('The host.', StoppedHost) },
    handle: ({ caller, path, body, services: { database } }) =>
      database.change(caller.actor, (postgres) => stopHost(postgres, { ...path, ...body })),
  }),

  operation({
    ...ofHost,
    path: '/v1/admin/hosts/{host}/start',
    id: 'startHost',
    summary: 'Have callbacks to a stopped host go on',
    description: 'What waits is sent now, but for what is paused or stopped by itself.',
    body: noBody,
    answers: { 204: nothing('It is no longer stopped.') },
    problems: ['not-stopped'],
    handle: ({ caller, path, services: { database } }) =>
      database.change(caller.actor, (postgres) => startHost(postgres, path.host)),
  }),
];
