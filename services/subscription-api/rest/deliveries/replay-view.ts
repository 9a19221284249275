import type { AskedReplay, Replay } from '../../by-hand/replays.ts';
import { Problem } from '../http/problem.ts';

/** With how far it has come. Throws a Problem (404) where there is none, as where it is another client's. */
export function replayView(replay: Replay | undefined) {
  if (replay === undefined) {
    throw new Problem('unknown-replay', 'There is no replay of this guid that belongs to this client.');
  }
  const { requested_at, cancelled_at, ...asked } = askedReplayView(replay);
  return { ...asked, published: replay.published, delivered: replay.delivered, requested_at, cancelled_at };
}

/** What was asked for. */
export function askedReplayView(replay: AskedReplay) {
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
    cancelled_at: cancelledAt?.toISOString() ?? null,
  };
}
