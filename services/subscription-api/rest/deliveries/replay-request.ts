import { replayRequest } from '@waybell/contracts/openapi/by-hand-paths';
import { momentOf, readTimestamp } from '@waybell/events/timestamp';
import type { ReplayRequest } from '@waybell/delivery-log/ask/replays';
import { bodyFaults, invalidBody, isObject, pointTo } from '../http/body.ts';

type ReplayBody = { subscription_guid: string; since: string; until?: string; per_second: number; dry_run: boolean };

const faultsOf = bodyFaults(replayRequest);

/** Reads the body of a replay. Throws a Problem (422) that names everything wrong with it. */
export function readReplayRequest(body: unknown, now: number): ReplayRequest & { isDryRun: boolean } {
  const faults = faultsOf(body);
  const { since, until } = isObject(body) ? body : {};
  const sinceMs = momentIn(since) ?? -Infinity;
  const untilMs = until === undefined ? now : (momentIn(until) ?? Infinity);
  if (sinceMs >= untilMs) faults.push({ pointer: pointTo('since'), detail: 'must be before until' });
  if (faults.length > 0) throw invalidBody(faults);
  // What the schema says of it.
  const { subscription_guid: subscription, per_second: perSecond, dry_run: isDryRun } = body as ReplayBody;
  return { subscription: subscription.toLowerCase(), sinceMs, untilMs, perSecond, isDryRun };
}

function momentIn(value: unknown): number | undefined {
  return typeof value === 'string' && readTimestamp(value) !== null ? momentOf(value) : undefined;
}
