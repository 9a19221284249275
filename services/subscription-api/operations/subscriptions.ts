/** The current subscriptions of a client, the same on either interface. */
import type { Action } from '@waybell/catalog/action';
import { findAction } from '@waybell/catalog/actions';
import { NOTE_EMPTY } from '../by-hand/missed.ts';
import { countMissed } from '../by-hand/replays.ts';
import { clientOf, seesTokens, type Caller } from '../rest/authentication/authenticate.ts';
import { Problem } from '../rest/http/problem.ts';
import type { ShownSubscription } from '../subscriptions.ts';
import { byGuid, data, guidInPath, noBody, noQuery, one, operationsOf, type LinkTarget } from './operation.ts';
import {
  choice,
  component,
  count,
  described,
  flag,
  from,
  guid,
  list,
  moment,
  object,
  objects,
  only,
  optional,
  text,
} from './schema.ts';
import type { ClientServices } from './services.ts';
import { problem } from './answers.ts';
import { CALLBACK_URL, change, desired, pause, readChange, readPut, readUntil } from './subscription-rules.ts';

/** Why an operator has the deliveries of a subscription wait. */
export const stopped = object({ at: moment(), reason: text() });

const deactivation = object(
  {
    at: from('deactivated_at', moment()),
    rule: from(
      'deactivation_rule',
      choice(
        ['exhausted', 'window'],
        '`exhausted`: a delivery was given up. `window`: every delivery of the last 24 hours, or of what the operator has set, failed.',
      ),
    ),
  },
  'Only where it was switched off: when, and by which rule.',
);

const suspension = object(
  { reason: only('feature_off'), feature: choice(['insurance', 'servicepay']) },
  'Only while the account lacks a feature that the action needs: nothing is sent, and the subscription stays.',
);

/** Its deliveries are suppressed or dropped as `feature_off`. */
function suspensionOf({ interface: interfaceName, action }: ShownSubscription, { features }: Caller) {
  const feature = findAction(interfaceName, action)?.feature;
  return feature !== undefined && !features.includes(feature) ? { feature } : undefined;
}

const missed = object(
  {
    since: from('offMs', moment()),
    until: from('onMs', moment()),
    count: optional(count('As many as one replay takes, at most. Left out in the answer of `PUT /v1/subscriptions`.')),
  },
  'Only where it was off and is on again, and lacks something of that time: until a replay of what was `missed` is asked for, and again where the delivery log gets something of that time later. For a minute after that the count may be 0.',
);

const Subscription = component(
  'Subscription',
  object({
    guid: guid(),
    action: text(),
    callback_url: text({ examples: [CALLBACK_URL] }),
    audit_field_set: optional(list(text(), 'Absent where its notifications have the plain form.')),
    verification_token: optional(
      text(
        'Sent with every notification as `X-Service-Verification-Token`. Only to tokens with `webhooks:write`, and not in lists.',
      ),
    ),
    is_active: flag('False once it was switched off.'),
    created_at: moment(),
    changed_at: moment(),
    deactivation: optional(
      from((row: ShownSubscription) => (row.is_active || row.deactivated_at === null ? undefined : row), deactivation),
    ),
    suspension: optional(from(suspensionOf, suspension)),
    paused_until: optional(
      from(
        ({ paused_until: until }: ShownSubscription) =>
          until !== null && until.getTime() > Date.now() ? until : undefined,
        moment('Only while it is paused: what is due waits until then.'),
      ),
    ),
    stopped: optional(
      from(
        'stop',
        described(
          stopped,
          'Only while an operator has its deliveries wait, or those to its host. Only an operator starts it again.',
        ),
      ),
    ),
    missed: optional(missed),
  }),
);

const PutSubscription = component(
  'PutSubscription',
  object({
    action: text(),
    result: choice(
      ['created', 'changed', 'unchanged', 'refused'],
      '`unchanged`: it was so before. `refused`: `problem` says why.',
    ),
    subscription: optional(Subscription),
    problem: optional(problem),
  }),
);

const operation =
  operationsOf<Pick<ClientServices, 'subscriptions' | 'database' | 'actionsOf' | 'callbackRules' | 'maxAgeMs'>>();

const common = { tag: 'Subscriptions', scope: 'webhooks:write' } as const;
const ofOne = { ...common, parameters: { guid: guidInPath() } } as const;
const answers = { 200: one('The subscription as it is now.', Subscription) };

const LED_TO = ['getSubscription', 'changeSubscription', 'pauseSubscription', 'resumeSubscription', 'testSubscription'];

const replayed: LinkTarget = {
  operationId: 'createReplay',
  at: '/objects/0/guid',
  member: 'subscription_guid',
  others: { since: '2026-11-20T09:30:00Z' },
};

/** Operations on all of them, and on one. */
export const subscriptionOperations = [
  operation({
    ...common,
    method: 'get',
    path: '/v1/subscriptions',
    id: 'listSubscriptions',
    summary: 'See all subscriptions, and why one is switched off, paused, stopped or suspended',
    description:
      "The client's current ones, by action, with the guids that tests and replays ask for. Those that were switched off are among them; those that were ended are not.",
    scope: 'webhooks:read',
    answers: {
      200: data('The subscriptions.', objects(Subscription), [...byGuid('/objects/0/guid', ...LED_TO), replayed]),
    },
    handle: async ({ caller, services }) => ({
      objects: await lacking(services, caller, await services.subscriptions.list(caller)),
    }),
  }),

  operation({
    ...common,
    method: 'put',
    path: '/v1/subscriptions',
    id: 'putSubscriptions',
    summary: 'Have subscriptions to many actions',
    description:
      'Each action is subscribed, or its subscription changed in place; nothing else is ended. The same request again changes nothing, so that a receiver can make it at each start. The answer has an entry for each action, by name.',
    body: { schema: desired, isUnjudged: true },
    answers: {
      200: data('What became of each.', objects(PutSubscription), byGuid('/objects/0/subscription/guid', ...LED_TO)),
    },
    async handle({ caller, body, response, services: { subscriptions, actionsOf, callbackRules: rules } }) {
      const asked = await readPut(body, { actions: actionsOf[caller.interface], caller, response, rules });
      const put = await subscriptions.put(caller, asked.wanted, asked);
      const done = put.map(({ result, subscription }) => {
        return { action: subscription.action, result, subscription: withToken(subscriptions, caller, subscription) };
      });
      const refused = asked.refused.map(({ action, problem: why }) => {
        return { action, result: 'refused', problem: why.toBody(String(response.locals['requestId'])) };
      });
      return { objects: [...done, ...refused].toSorted((first, other) => (first.action < other.action ? -1 : 1)) };
    },
  }),

  operation({
    ...ofOne,
    method: 'get',
    path: '/v1/subscriptions/{guid}',
    id: 'getSubscription',
    summary: 'See a subscription',
    description: 'One that the client has now, with its verification token.',
    scope: 'webhooks:read',
    query: noQuery,
    answers,
    problems: ['not-subscribed'],
    async handle({ caller, path, services }) {
      const found = required(await services.subscriptions.find(caller, path));
      return withToken(services.subscriptions, caller, (await lacking(services, caller, [found]))[0]);
    },
  }),

  operation({
    ...ofOne,
    method: 'patch',
    path: '/v1/subscriptions/{guid}',
    id: 'changeSubscription',
    summary: 'Change a subscription in place, or switch it on again',
    description:
      'Its guid, verification token and history stay. Earlier failures no longer count. What it missed while it was off is noted as `missed`, with a count: `POST /v1/replays` with `missed` sends it. Another URL alone leaves one off that was switched off. A request that changes nothing does nothing.',
    body: { schema: change, isUnjudged: true },
    answers,
    problems: ['not-subscribed'],
    async handle({ caller, path, body, services }) {
      const current = required(await services.subscriptions.find(caller, path));
      const wanted = await readChange(body, actionOf(current), services.callbackRules);
      const found = required(await services.subscriptions.change(caller, path.guid, wanted));
      return withToken(services.subscriptions, caller, (await withCounts(services, caller, [found]))[0]);
    },
  }),

  operation({
    ...ofOne,
    method: 'post',
    path: '/v1/subscriptions/{guid}/pause',
    id: 'pauseSubscription',
    summary: 'Have its deliveries wait',
    description:
      'Until then, or until it is resumed, what is due waits, and counts for nothing; what grows too old expires. It stays active. Paused again, the new end counts.',
    body: { schema: pause, isOptional: true },
    answers,
    problems: ['not-subscribed', 'switched-off'],
    async handle({ caller, path, body, services: { subscriptions, maxAgeMs } }) {
      const until = readUntil(body, { maxAgeMs, now: Date.now() });
      return withToken(subscriptions, caller, requireOn(await subscriptions.pause(caller, path.guid, until)));
    },
  }),

  operation({
    ...ofOne,
    method: 'post',
    path: '/v1/subscriptions/{guid}/resume',
    id: 'resumeSubscription',
    summary: 'End a pause',
    description: 'What waits is sent now. Fine where it is not paused, too.',
    body: noBody,
    answers,
    problems: ['not-subscribed', 'switched-off'],
    handle: async ({ caller, path, services: { subscriptions } }) =>
      withToken(subscriptions, caller, requireOn(await subscriptions.pause(caller, path.guid, null))),
  }),
];

type LogServices = Pick<ClientServices, 'database'>;

/** Adds to each how much it lacks of what it noted as missed. */
function withCounts({ database }: LogServices, caller: Caller, all: readonly ShownSubscription[]) {
  return database.askLog(async (postgres) => {
    const counted: ShownSubscription[] = [];
    for (const each of all) {
      const { missed: noted, action } = each;
      if (noted === null) counted.push(each);
      else {
        const asked = { ...noted, actions: [action], client: clientOf(caller) };
        counted.push({ ...each, missed: { ...noted, count: await countMissed(postgres, asked) } });
      }
    }
    return counted;
  });
}

/** As `withCounts`; but a subscription that lacks nothing, and whose period is over, has missed nothing: that is noted. */
async function lacking(
  services: LogServices,
  caller: Caller,
  all: readonly ShownSubscription[],
): Promise<readonly ShownSubscription[]> {
  if (all.every(({ missed: noted }) => noted === null)) return all;
  const counted = await withCounts(services, caller, all);
  const empty = counted.filter(({ missed: noted }) => noted?.isOver === true && noted.count === 0);
  const guids = empty.map((each) => each.guid);
  if (guids.length > 0) await services.database.change(caller.actor, (postgres) => postgres.query(NOTE_EMPTY, [guids]));
  return counted.map((each) => (empty.includes(each) ? { ...each, missed: null } : each));
}

/** Adds the verification token where the caller may see it. */
function withToken(
  subscriptions: ClientServices['subscriptions'],
  caller: Caller,
  found: ShownSubscription | undefined,
) {
  const subscription = required(found);
  const token = seesTokens(caller) ? subscriptions.verificationToken(subscription) : undefined;
  return { ...subscription, verification_token: token };
}

/** Throws a Problem (404). */
function required(found: ShownSubscription | undefined): ShownSubscription {
  if (found !== undefined) return found;
  throw new Problem('not-subscribed', 'There is none of this guid that belongs to this client.');
}

/** Throws a Problem (409) where it is switched off. */
function requireOn(found: ShownSubscription | undefined): ShownSubscription {
  const subscription = required(found);
  if (subscription.is_active) return subscription;
  const how = 'switch it on with PATCH and {"is_active": true}';
  throw new Problem('switched-off', `It is switched off, so nothing waits for it: ${how}.`);
}

function actionOf({ interface: interfaceName, action: name }: ShownSubscription): Action {
  const action = findAction(interfaceName, name);
  if (action === undefined) throw new Error(`a subscription to ${interfaceName}.${name}, which there is not`);
  return action;
}
