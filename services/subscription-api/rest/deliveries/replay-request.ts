import { REPLAY_RATE } from '@waybell/contracts/openapi/by-hand-paths';
import type { ReplayRequest } from '@waybell/delivery-log/ask/replays';
import { isGuid } from '@waybell/events/guid';
import { momentOf, readTimestamp } from '@waybell/events/timestamp';
import { invalidBody, isObject, notAnObject, pointTo, unknownMembers } from '../http/body.ts';
import type { Fault } from '../http/problem.ts';

const MEMBERS = ['subscription_guid', 'since', 'until', 'per_second', 'dry_run'];

/** Reads the body of a replay. Throws a Problem (422) that names everything wrong with it. */
export function readReplayRequest(body: unknown, now: number): ReplayRequest & { isDryRun: boolean } {
  if (!isObject(body)) throw invalidBody([notAnObject]);
  const {
    subscription_guid: subscription,
    since,
    until,
    per_second: rate = REPLAY_RATE.default,
    dry_run = false,
  } = body;
  const sinceMs = readMoment(since);
  const untilMs = until === undefined ? now : readMoment(until);
  const faults: Fault[] = unknownMembers(body, MEMBERS);
  const require = (isRight: boolean, member: string, detail: string) => {
    if (!isRight) faults.push({ pointer: pointTo(member), detail });
  };
  require(isGuid(subscription), 'subscription_guid', 'must be a guid');
  require(sinceMs !== undefined, 'since', 'must be an RFC 3339 timestamp');
  require(untilMs !== undefined, 'until', 'must be an RFC 3339 timestamp');
  require((sinceMs ?? 0) < (untilMs ?? Infinity), 'since', 'must be before until');
  const isRate = typeof rate === 'number' && Number.isInteger(rate) && rate >= 1 && rate <= REPLAY_RATE.most;
  require(isRate, 'per_second', `must be a whole number from 1 to ${REPLAY_RATE.most}`);
  require(typeof dry_run === 'boolean', 'dry_run', 'must be true or false');
  if (faults.length > 0) throw invalidBody(faults);
  return {
    // All were just found to have these types.
    subscription: String(subscription).toLowerCase(),
    sinceMs: sinceMs as number,
    untilMs: untilMs as number,
    perSecond: rate as number,
    isDryRun: dry_run as boolean,
  };
}

function readMoment(value: unknown): number | undefined {
  return typeof value === 'string' && readTimestamp(value) !== null ? momentOf(value) : undefined;
}
