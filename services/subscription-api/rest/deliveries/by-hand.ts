/** Sending by hand, for clients: one failed delivery, a replay of many, or a test. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Router } from 'express';
import { actionsOf } from '@waybell/catalog/actions';
import { matchesPattern, nearestNames } from '@waybell/catalog/names';
import { replayRequest } from '../../operations/by-hand-paths.ts';
import { sentExamples } from '@waybell/contracts/sent-examples';
import type { ClientReader, DeliveryEntry } from '@waybell/delivery-log/read/entries';
import { deliveryHistory } from '@waybell/delivery-log/read/history';
import type { Stop } from '@waybell/delivery-log/read/subscriptions';
import { momentOf, readTimestamp } from '@waybell/events/timestamp';
import type { InterfaceName } from '@waybell/line/outcomes';
import { askForResend, askForTest, type SendRefusal } from '../../by-hand/ask.ts';
import {
  cancelReplay,
  latestReplays,
  replayOf,
  requester,
  askForReplay,
  countReplay,
  type ReplayRequest,
  type AskedReplay,
  type Replay,
} from '../../by-hand/replays.ts';
import { requireScope, type Caller } from '../authentication/authenticate.ts';
import { readJson, readNothing, bodyFaults, invalidBody, isObject, pointTo } from '../http/body.ts';
import { Problem, type Fault } from '../http/problem.ts';
import { readNoQuery, requirePathGuid } from '../http/read-query.ts';
import { answerFor, answerObject, addPath, type RouteOptions, type GuidParams } from '../http/routes.ts';
import { deliveryDetailView } from './history-view.ts';
import { sentRequest } from '../../operations/sent-request.ts';

type ByHandRouteOptions = Pick<RouteOptions, 'authenticate' | 'database'>;
/** A receiver's time limit, and some more: after it, the answer says that there is no result yet. */
const TEST_LIMIT_MS = 75_000;
const FIRST_POLL_MS = 100;
const LONGEST_POLL_MS = 2_000;
const RETRY_LATER = { headers: { 'retry-after': '60' } };

/** Routes that send failed deliveries again, or an example. The same on either interface. */
export function byHandRoutes(options: ByHandRouteOptions): Router {
  const router = Router({ caseSensitive: true });
  addResend(router, options);
  addReplays(router, options);
  addTest(router, options);
  return router;
}

function addResend(router: Router, { authenticate, database }: ByHandRouteOptions): void {
  addPath<GuidParams>(router, ['/v1/deliveries/:guid/resend'], {
    async post(request, response) {
      const { caller, client, by } = admitted(await authenticate(request));
      await readNothing(request, response);
      const delivery = requirePathGuid('guid', request.params.guid);
      const asked = await database.change(caller.actor, (postgres) => askForResend(postgres, { delivery, client, by }));
      if (asked.kind === 'refused') throw refusal(asked, 'unknown-delivery');
      const { subscription, fromAttempt: attempt, held } = asked;
      const resend = { delivery_guid: delivery, subscription_guid: subscription, attempt, ...(held && { held }) };
      answerObject(caller, response.status(202), resend);
    },
  });
}

function addReplays(router: Router, { authenticate, database }: ByHandRouteOptions): void {
  addPath(router, ['/v1/replays'], {
    async get(request, response) {
      const { caller, client } = admitted(await authenticate(request), 'webhooks:read');
      const replays = await database.askLog((postgres) => latestReplays(postgres, client));
      answerFor(caller, response, { objects: replays.map(askedReplayView) });
    },

    async post(request, response) {
      const { caller, client, by } = admitted(await authenticate(request));
      const body = await readJson(request, response);
      const { isDryRun, ...replay } = readReplayRequest(body, { interface: client.interface, now: Date.now() });
      if (isDryRun) {
        const counted = await database.askLog((postgres) => countReplay(postgres, replay, client));
        if (counted.kind === 'refused') throw refusal(counted, 'not-subscribed');
        const { kind: _, ...count } = counted;
        return answerObject(caller, response, count);
      }
      const asked = await database.change(caller.actor, (postgres) =>
        askForReplay(postgres, { ...replay, client, by }),
      );
      if (asked.kind === 'refused') throw refusal(asked, 'not-subscribed');
      const made = await database.askLog((postgres) => replayOf(postgres, asked.guid, client));
      const { explanation } = asked;
      answerObject(caller, response.status(202), {
        ...replayView(made),
        ...(explanation !== undefined && { explanation }),
      });
    },
  });

  addPath<GuidParams>(router, ['/v1/replays/:guid'], {
    async get(request, response) {
      const { caller, client } = admitted(await authenticate(request), 'webhooks:read');
      const guid = requirePathGuid('guid', request.params.guid);
      readNoQuery(request);
      answerObject(caller, response, replayView(await database.askLog((postgres) => replayOf(postgres, guid, client))));
    },
    async delete(request, response) {
      const { caller, client } = admitted(await authenticate(request));
      await readNothing(request, response);
      const guid = requirePathGuid('guid', request.params.guid);
      const replay = await database.change(caller.actor, (postgres) => cancelReplay(postgres, guid, client));
      answerObject(caller, response, replayView(replay));
    },
  });
}

function addTest(router: Router, { authenticate, database }: ByHandRouteOptions): void {
  const oneAtATime = refusingSeconds();
  addPath<GuidParams>(router, ['/v1/subscriptions/:guid/test'], {
    async post(request, response) {
      const { caller, client, by } = admitted(await authenticate(request));
      await readNothing(request, response);
      const subscription = requirePathGuid('guid', request.params.guid);
      const exampleOf = exampleOn(client.interface);
      await oneAtATime([client.account, client.client, subscription].join(' '), async () => {
        const asked = await database.change(caller.actor, (postgres) =>
          askForTest(postgres, { subscription, client, by, exampleOf }),
        );
        if (asked.kind === 'refused') throw refusal(asked, 'not-subscribed');
        const gone = new AbortController();
        response.once('close', () => gone.abort());
        const read = () => database.askLog((postgres) => deliveryHistory(postgres, asked, client));
        const entry = await untilAnswered(read, gone.signal);
        answerObject(caller, response, deliveryDetailView(entry, sentRequest(entry, asked.body)));
      });
    },
  });
}

/** Throws a Problem (409) while work of the same key is under way: waiting for it would repeat the query. */
function refusingSeconds(): (key: string, work: () => Promise<void>) => Promise<void> {
  const underWay = new Set<string>();
  return async (key, work) => {
    if (underWay.has(key))
      throw new Problem('under-way', 'A test of this subscription is on its way: wait for its answer.');
    underWay.add(key);
    try {
      await work();
    } finally {
      underWay.delete(key);
    }
  };
}

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

function admitted(caller: Caller, scope: 'webhooks:read' | 'webhooks:write' = 'webhooks:write') {
  requireScope(caller, scope);
  return { caller, client: clientOf(caller), by: requester(caller.actor.who, caller.isOperator === true) };
}

export function clientOf({ accountGuid, clientId, interface: interfaceName }: Caller): ClientReader {
  return { account: accountGuid, client: clientId, interface: interfaceName };
}

const MESSAGE_GUID = /"guid":"[^"]*"/;

/** Returns the documented example; on the carrier interface its body carries the guid of the message. */
function exampleOn(interfaceName: Caller['interface']) {
  return (action: string, guid: string): string => {
    const [example] = sentExamples[`${interfaceName}.${action}`] ?? [];
    if (example === undefined) throw new Error(`no example of ${interfaceName}.${action}`);
    return interfaceName === 'carrier' ? example.body.replace(MESSAGE_GUID, `"guid":"${guid}"`) : example.body;
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

type ReplayBody = {
  action?: string;
  subscription_guid?: string;
  since?: string;
  until?: string;
  per_second: number;
  include_suppressed: boolean;
  dry_run: boolean;
};

const faultsOf = bodyFaults(replayRequest);

type ReplayContext = { interface: InterfaceName; now: number };

/** Reads the body of a replay. Throws a Problem (422) that names everything wrong with it. */
function readReplayRequest(body: unknown, asking: ReplayContext): ReplayRequest & { isDryRun: boolean } {
  const faults = [
    ...faultsOf(body),
    ...(isObject(body) && body['missed'] === true ? faultsOfMissed(body) : faultsOfRange(body, asking)),
  ];
  if (faults.length > 0) throw invalidBody(faults);
  // The body fits the schema.
  const asked = body as ReplayBody;
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

/** A replay with its progress. Throws a Problem (404) if there is none, or if it is another client's. */
function replayView(replay: Replay | undefined) {
  if (replay === undefined) {
    throw new Problem('unknown-replay', 'There is no replay of this guid that belongs to this client.');
  }
  const { requested_at, requested_by, cancelled_at, ...asked } = askedReplayView(replay);
  const { published, delivered } = replay;
  return { ...asked, published, delivered, requested_at, requested_by, cancelled_at };
}

/** The request for a replay. */
function askedReplayView(replay: AskedReplay) {
  const { since, until, requested_at: requestedAt, cancelled_at: cancelledAt } = replay;
  return {
    guid: replay.guid,
    action: replay.action,
    since: since.toISOString(),
    until: until.toISOString(),
    include_suppressed: replay.include_suppressed,
    per_second: replay.per_second,
    total: replay.total,
    requested_at: requestedAt.toISOString(),
    requested_by: replay.requested_by,
    cancelled_at: cancelledAt?.toISOString() ?? null,
  };
}
