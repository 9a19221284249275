import { actionsOf } from '@waybell/catalog/actions';
import { matchesPattern, nearestNames } from '@waybell/catalog/names';
import { replayRequest } from '@waybell/contracts/openapi/by-hand-paths';
import type { ReplayRequest } from '../../by-hand/replays.ts';
import { momentOf, readTimestamp } from '@waybell/events/timestamp';
import type { InterfaceName } from '@waybell/line/outcomes';
import { bodyFaults, invalidBody, isObject, pointTo } from '../http/body.ts';
import type { Fault } from '../http/problem.ts';

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
export function readReplayRequest(body: unknown, asking: ReplayContext): ReplayRequest & { isDryRun: boolean } {
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
