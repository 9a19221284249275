/** Sending by hand, for clients: one failed delivery, a replay of many, or a test. The same on either interface. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Static } from 'typebox';
import { actionsOf } from '@waybell/catalog/actions';
import { matchesPattern, nearestNames } from '@waybell/catalog/names';
import { sentExamples } from '@waybell/contracts/sent-examples';
import type { DeliveryEntry } from '@waybell/delivery-log/read/entries';
import { deliveryHistory } from '@waybell/delivery-log/read/history';
import { LARGEST_REPLAY, LISTED_REPLAYS, REPLAY_RATE } from '@waybell/delivery-log/read/limits';
import type { Stop } from '@waybell/delivery-log/read/subscriptions';
import { momentOf, readTimestamp } from '@waybell/events/timestamp';
import type { InterfaceName } from '@waybell/line/outcomes';
import { askForResend, askForTest, type SendRefusal } from '../by-hand/ask.ts';
import {
  askForReplay,
  cancelReplay,
  countReplay,
  latestReplays,
  replayOf,
  requester,
  type Replay,
  type ReplayRequest,
} from '../by-hand/replays.ts';
import { clientOf, type Caller } from '../rest/authentication/authenticate.ts';
import { isObject, pointTo } from '../rest/http/body.ts';
import { Problem, type Fault } from '../rest/http/problem.ts';
import { DeliveryDetail } from './delivery-schemas.ts';
import {
  byGuid,
  data,
  guidInPath,
  noBody,
  noQuery,
  one,
  operationsOf,
  Replied,
  type UnjudgedBody,
} from './operation.ts';
import {
  actionPattern,
  choice,
  closed,
  component,
  count,
  defaulted,
  described,
  flag,
  from,
  guid,
  list,
  object,
  optional,
  orNull,
  text,
  whole,
} from './schema.ts';
import type { ActingServices } from './services.ts';

const moment = text({ format: 'date-time' });

const Resend = component(
  'Resend',
  object({
    delivery_guid: guid(),
    subscription_guid: guid('To which it goes.'),
    attempt: from('fromAttempt', whole({ minimum: 1, description: 'The attempt it goes on with.' })),
    held: optional(
      choice(
        ['paused', 'stopped'],
        'Only where the subscription is paused, or stopped by an operator: it waits until that is over.',
      ),
    ),
  }),
);

/** A list of reasons, and how many have each. */
export const reasonCounts = list(
  object({ reason: text({ examples: ['response_timeout', 'switched_off'] }), count: count() }),
  'Why they did not arrive, and of each how many: a reason of failure, or why there was no subscription.',
);

const explanation = optional(text('Where there is nothing to send: what there is instead, for people.'));

const ReplayCount = component('ReplayCount', object({ total: count(), reasons: reasonCounts, explanation }));

const replayed = {
  guid: guid(),
  action: text({ description: 'Of which action; a pattern where that was asked for.', examples: ['order.*'] }),
  since: moment,
  until: moment,
  include_suppressed: flag(),
  per_second: whole({ minimum: 1 }),
  total: count('Deliveries that are sent.'),
};

const replayAsked = {
  requested_at: moment,
  requested_by: choice(['client', 'operator']),
  cancelled_at: orNull(moment),
};

const AskedReplay = component('AskedReplay', object({ ...replayed, ...replayAsked }));

const ReplayProgress = component(
  'Replay',
  object({
    ...replayed,
    published: count('Of these, handed out to be attempted.'),
    delivered: count('Of these, delivered by now.'),
    ...replayAsked,
    explanation,
  }),
);

const replayMembers = {
  action: optional(
    actionPattern({
      description: 'the name of an action, in which * is any text; this, or a subscription, is to be there',
    }),
  ),
  subscription_guid: optional(
    guid('Of the action of this subscription of the client, current or not; whichever of them missed it.'),
  ),
  missed: optional(
    choice(
      [true],
      'What the subscription named by `subscription_guid` noted as `missed`, in place of `since`, `until`, `action` and `include_suppressed`.',
    ),
  ),
  since: optional(described(moment, 'What was given up, or failed, from then on.')),
  until: optional(described(moment, 'And before; now, where it is left out.')),
  per_second: defaulted(whole({ minimum: 1, maximum: REPLAY_RATE.most, default: REPLAY_RATE.default })),
  include_suppressed: defaulted(
    flag({
      default: false,
      description:
        'Also what was never made because there was no subscription that was on: it was switched off, had ended, or was not there yet. It is made now from the event, which is kept as long as bodies are.',
    }),
  ),
  dry_run: defaulted(flag({ default: false, description: 'Count only.' })),
};

const replayRequest = closed(replayMembers);

const operation = operationsOf<Pick<ActingServices, 'database'>>();

const common = { tag: 'Resend and replay', scope: 'webhooks:write' } as const;
const ofReplay = { ...common, path: '/v1/replays/{guid}', parameters: { guid: guidInPath() } } as const;

const LED_TO = ['getReplay', 'cancelReplay'];

export const byHandOperations = [
  operation({
    ...common,
    method: 'post',
    path: '/v1/deliveries/{guid}/resend',
    id: 'resendDelivery',
    summary: 'Send a delivery again',
    description:
      'To the subscription that the client has to its action now; one that is switched off is switched on first. `webhook-id` and body stay, `X-Webhook-Attempt` goes on, and there are as many retries as for a new one. It counts for no deactivation.',
    parameters: { guid: guidInPath('As `webhook-id`.') },
    body: noBody,
    answers: { 202: one('It will be sent within a second or so.', Resend) },
    problems: ['unknown-delivery', 'under-way', 'was-a-test', 'body-gone', 'nobody-subscribed', 'switched-off'],
    async handle({ caller, path, services: { database } }) {
      const asked = await database.change(caller.actor, (postgres) =>
        askForResend(postgres, { delivery: path.guid, client: clientOf(caller), by: requesterOf(caller) }),
      );
      if (asked.kind === 'refused') throw refusal(asked, 'unknown-delivery');
      return asked;
    },
  }),

  operation({
    ...common,
    method: 'post',
    path: '/v1/replays',
    id: 'createReplay',
    summary: 'Send all that the client missed',
    description: `All of an action that was given up or dropped, whichever subscription of the client it was for, also of one that was ended since; with \`include_suppressed\` also what was never made, for want of a subscription. It is sent to the subscription that the client has to the action now. With \`*\`, which is any text, it is of several actions at one rate: those that the client has a subscription to that is on. With \`dry_run\` it is only counted, by reason. With \`missed\` it is what one subscription missed while it was off, from the moment it went off, suppressed or not; of several such requests one does it. Where there is nothing, \`explanation\` says what there is instead. One request takes the ${LARGEST_REPLAY.toLocaleString('en')} oldest at most, and counts no further; the next one takes the rest. With \`missed\`, what is noted as missed then begins where the replay ends.`,
    body: {
      schema: replayRequest,
      shown: closed(replayMembers, { anyOf: [{ required: ['since'] }, { required: ['missed'] }] }),
      isUnjudged: true,
    },
    answers: {
      200: one('How many there are, where that was asked.', ReplayCount),
      202: one('It has begun.', ReplayProgress, byGuid('/guid', ...LED_TO)),
    },
    problems: ['not-subscribed', 'nobody-subscribed', 'switched-off', 'nothing-missed'],
    async handle({ caller, body, services: { database } }) {
      const client = clientOf(caller);
      const { isDryRun, ...replay } = readReplayRequest(body, { interface: client.interface, now: Date.now() });
      if (isDryRun) {
        const counted = await database.askLog((postgres) => countReplay(postgres, replay, client));
        if (counted.kind === 'refused') throw refusal(counted, 'not-subscribed');
        return new Replied(200, counted);
      }
      const asked = await database.change(caller.actor, (postgres) =>
        askForReplay(postgres, { ...replay, client, by: requesterOf(caller) }),
      );
      if (asked.kind === 'refused') throw refusal(asked, 'not-subscribed');
      const made = required(await database.askLog((postgres) => replayOf(postgres, asked.guid, client)));
      return new Replied(202, { ...made, explanation: asked.explanation });
    },
  }),

  operation({
    ...common,
    method: 'get',
    path: '/v1/replays',
    id: 'listReplays',
    summary: 'See what was asked to be replayed',
    description: `The latest ${LISTED_REPLAYS} of the client, newest first. How far one has come, \`GET /v1/replays/{guid}\` tells.`,
    scope: 'webhooks:read',
    answers: {
      200: data(
        'The replays.',
        object({ objects: list(AskedReplay, { maxItems: LISTED_REPLAYS }) }),
        byGuid('/objects/0/guid', ...LED_TO),
      ),
    },
    handle: async ({ caller, services: { database } }) => ({
      objects: await database.askLog((postgres) => latestReplays(postgres, clientOf(caller))),
    }),
  }),

  operation({
    ...ofReplay,
    method: 'get',
    id: 'getReplay',
    summary: 'See how far a replay has come',
    scope: 'webhooks:read',
    query: noQuery,
    answers: { 200: one('The replay.', ReplayProgress) },
    problems: ['unknown-replay'],
    handle: async ({ caller, path, services: { database } }) =>
      required(await database.askLog((postgres) => replayOf(postgres, path.guid, clientOf(caller)))),
  }),

  operation({
    ...ofReplay,
    method: 'delete',
    id: 'cancelReplay',
    summary: 'Cancel a replay',
    description:
      'What was not sent yet is not sent, but for what is just being handed over: 50 at most for each process of the delivery log. What was sent is not called back.',
    body: noBody,
    answers: { 200: one('The replay, cancelled.', ReplayProgress) },
    problems: ['unknown-replay'],
    handle: async ({ caller, path, services: { database } }) =>
      required(await database.change(caller.actor, (postgres) => cancelReplay(postgres, path.guid, clientOf(caller)))),
  }),

  operation({
    ...common,
    method: 'post',
    path: '/v1/subscriptions/{guid}/test',
    id: 'testSubscription',
    summary: 'Try a subscription out',
    description:
      'Sends the example of its action, signed as any other, with the header `X-Webhook-Test: true`, once, and answers with what the receiver said: also while it is switched off or paused, not while an operator has stopped it. One at a time for each subscription. It counts for no deactivation.',
    parameters: { guid: guidInPath('Of a current subscription: `GET /v1/subscriptions` has it.') },
    body: noBody,
    answers: { 200: one('What the receiver said.', DeliveryDetail) },
    problems: ['not-subscribed', 'under-way', 'stopped'],
    handle: ({ caller, path, response, services: { database } }) => {
      const client = clientOf(caller);
      const sending = {
        subscription: path.guid,
        client,
        by: requesterOf(caller),
        exampleOf: exampleOn(client.interface),
      };
      return oneAtATime([client.account, client.client, path.guid].join(' '), async () => {
        const asked = await database.change(caller.actor, (postgres) => askForTest(postgres, sending));
        if (asked.kind === 'refused') throw refusal(asked, 'not-subscribed');
        const gone = new AbortController();
        response.once('close', () => gone.abort());
        const read = () => database.askLog((postgres) => deliveryHistory(postgres, asked, client));
        return { ...(await untilAnswered(read, gone.signal)), body: asked.body };
      });
    },
  }),
];

const requesterOf = ({ actor, isOperator }: Caller): string => requester(actor.who, isOperator === true);

/** Throws a Problem (404) if there is none, or if it is another client's. */
function required(replay: Replay | undefined): Replay {
  if (replay !== undefined) return replay;
  throw new Problem('unknown-replay', 'There is no replay of this guid that belongs to this client.');
}

/** Tests that are under way in this process. */
const underWay = new Set<string>();

/** Throws a Problem (409) while work of the same key is under way: waiting for it would repeat the query. */
async function oneAtATime<T>(key: string, work: () => Promise<T>): Promise<T> {
  if (underWay.has(key))
    throw new Problem('under-way', 'A test of this subscription is on its way: wait for its answer.');
  underWay.add(key);
  try {
    return await work();
  } finally {
    underWay.delete(key);
  }
}

/** A receiver's time limit, and some more: after it, the answer says that there is no result yet. */
const TEST_LIMIT_MS = 75_000;
const FIRST_POLL_MS = 100;
const LONGEST_POLL_MS = 2_000;
const RETRY_LATER = { headers: { 'retry-after': '60' } };

/** Resolves with what the receiver said, polling ever more seldom. Throws a Problem (503) if that is not known in time. */
async function untilAnswered(
  read: () => Promise<DeliveryEntry | undefined>,
  signal: AbortSignal,
): Promise<DeliveryEntry> {
  const until = performance.now() + TEST_LIMIT_MS;
  for (let delayMs = FIRST_POLL_MS; ; delayMs = Math.min(delayMs * 1.5, LONGEST_POLL_MS)) {
    const entry = await read();
    if (entry !== undefined && entry.status !== 'waiting') return entry;
    if (performance.now() > until || signal.aborted)
      throw new Problem('unavailable', 'There is no result yet; the delivery log will have it.', RETRY_LATER);
    await sleep(delayMs);
  }
}

const MESSAGE_GUID = /"guid":"[^"]*"/;

/** Returns the documented example; on the carrier interface its body carries the guid of the message. */
function exampleOn(interfaceName: Caller['interface']) {
  return (action: string, message: string): string => {
    const [example] = sentExamples[`${interfaceName}.${action}`] ?? [];
    if (example === undefined) throw new Error(`no example of ${interfaceName}.${action}`);
    return interfaceName === 'carrier' ? example.body.replace(MESSAGE_GUID, `"guid":"${message}"`) : example.body;
  };
}

function refusal(refused: SendRefusal, unknown: 'unknown-delivery' | 'not-subscribed'): Problem {
  switch (refused.why) {
    case 'not_found':
      return new Problem(unknown, 'There is none of this guid that belongs to this client.');
    case 'under_way':
      return new Problem('under-way', 'It is still on its way: see when its next attempt is due.');
    case 'a_test':
      return new Problem('was-a-test', 'A test is not sent again: ask for another one.');
    case 'body_gone':
      return new Problem('body-gone', 'What was sent is no longer kept; ask the platform to publish the event again.');
    case 'unsubscribed':
      return new Problem('nobody-subscribed', 'This client is not subscribed to the action any more: subscribe first.');
    case 'deactivated':
      return new Problem(
        'switched-off',
        'The subscription is switched off, as its deliveries failed: switch it on first, with PATCH /v1/subscriptions/{guid} and {"is_active": true}.',
      );
    case 'nothing_missed':
      return new Problem('nothing-missed', 'The subscription has missed nothing, or a replay has it in hand.');
    case 'stopped':
      return stoppedProblem(refused.stop);
  }
}

export const stoppedProblem = ({ at, reason }: Stop): Problem =>
  new Problem('stopped', `An operator has stopped it since ${new Date(at).toISOString()}: ${reason}`);

type ReplayContext = { interface: InterfaceName; now: number };

/** Reads the body of a replay. Throws a Problem (422) that names everything wrong with it. */
function readReplayRequest(
  body: UnjudgedBody<Static<typeof replayRequest>>,
  asking: ReplayContext,
): ReplayRequest & { isDryRun: boolean } {
  const { value } = body;
  const asked = body.fitting(
    isObject(value) && value['missed'] === true ? faultsOfMissed(value) : faultsOfRange(value, asking),
  );
  const { action, per_second: perSecond, dry_run: isDryRun, include_suppressed: includesSuppressed } = asked;
  const subscription = asked.subscription_guid?.toLowerCase() ?? '';
  if (asked.since === undefined) return { of: { missedBy: subscription }, perSecond, isDryRun };
  const of = action === undefined ? { subscription } : { action };
  const untilMs = momentIn(asked.until) ?? asking.now;
  return { of, sinceMs: momentOf(asked.since), untilMs, perSecond, includesSuppressed, isDryRun };
}

function faultsOfMissed(body: object): Fault[] {
  const others = ['action', 'since', 'until'].filter((name) => name in body);
  return [
    ...others.map((name) => ({ pointer: pointTo(name), detail: 'is not taken with missed' })),
    ...('subscription_guid' in body
      ? []
      : [{ pointer: pointTo('subscription_guid'), detail: 'is required with missed' }]),
  ];
}

function faultsOfRange(body: unknown, asking: ReplayContext): Fault[] {
  const { since, until, action, subscription_guid: subscription } = isObject(body) ? body : {};
  const sinceMs = momentIn(since) ?? -Infinity;
  const untilMs = until === undefined ? asking.now : (momentIn(until) ?? Infinity);
  return [
    ...(since === undefined ? [{ pointer: pointTo('since'), detail: 'is required, or missed in its place' }] : []),
    ...(sinceMs >= untilMs ? [{ pointer: pointTo('since'), detail: 'must be before until' }] : []),
    ...faultsOfChoice({ action, subscription }, asking),
  ];
}

function faultsOfChoice(
  { action, subscription }: { action: unknown; subscription: unknown },
  { interface: interfaceName }: ReplayContext,
): Fault[] {
  const pointer = pointTo('action');
  if ((action === undefined) === (subscription === undefined))
    return [{ pointer, detail: 'is required, or subscription_guid in its place; not both' }];
  const names = actionsOf(interfaceName).map(({ name }) => name);
  if (typeof action !== 'string' || names.some((name) => matchesPattern(name, action))) return [];
  const nearest = nearestNames(action.replaceAll('*', ''), names, 1).join();
  return [{ pointer, detail: `is no action of this interface; the nearest is ${nearest}` }];
}

function momentIn(value: unknown): number | undefined {
  return typeof value === 'string' && readTimestamp(value) !== null ? momentOf(value) : undefined;
}
