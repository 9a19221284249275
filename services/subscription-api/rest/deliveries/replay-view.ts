import type { AskedReplay, Replay } from '../../by-hand/asked-replays.ts';
import { Problem } from '../http/problem.ts';

/** With how far it has come. Throws a Problem (404) where there is none, as where it is another client's. */
export function replayView(replay: Replay | undefined) {
  if (replay === undefined) {
    throw new Problem('unknown-replay', 'There is no replay of this guid that belongs to this client.');
  }
  const { requested_at, requested_by, cancelled_at, ...asked } = askedReplayView(replay);
  const { published, delivered } = replay;
  return { ...asked, published, delivered, requested_at, requested_by, cancelled_at };
}

/** The request for a replay. */
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
    requested_by: replay.requested_by,
    cancelled_at: cancelledAt?.toISOString() ?? null,
  };
}
