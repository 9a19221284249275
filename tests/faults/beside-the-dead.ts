import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../testing/ledger.ts';
import { Load } from '../testing/load.ts';
import type { Receiver } from '../testing/receiver.ts';
import { logOf } from '../testing/replica.ts';
import { subscribers } from '../testing/subscribers.ts';
import { until } from '@waybell/runtime/testing/until';
import type { Course } from './fault.ts';
import { hungParty, type HungParty } from './hung-party.ts';
import type { Scale, Stage } from './stage.ts';

const DEAD = 4;
const FOLDER = '/lifeless';
const DEAD_EVENTS_PER_SECOND = 10;
const EVENTS_PER_SECOND: Record<Scale, number> = { short: 50, release: 500 };
/** In the release bench longer than a request to what is dead may take. */
const WATCHED_MS: Record<Scale, number> = { short: 30_000, release: 90_000 };

/** Observations beside the ends: suspects, and the longest wait of healthy endpoints. */
export type Watched = { course: Course; suspects: number };

/** Breaks something under load, while four endpoints never answer, and watches for a while how the others fare. */
export async function besideTheDead(
  stage: Stage,
  ledger: Ledger,
  breakIt: () => Promise<{ movingAgainSeconds: number }>,
): Promise<Watched> {
  const { receiver, scale } = stage;
  const healthy = await subscribers(stage);
  const dead: HungParty[] = await Promise.all(
    Array.from({ length: DEAD }, () =>
      hungParty(stage, ledger, { interface: 'shipper', action: 'order.paid', folder: FOLDER }),
    ),
  );
  using load = new Load({ ledger, parties: healthy, eventsPerSecond: EVENTS_PER_SECOND[scale] });
  using deadLoad = new Load({ ledger, parties: dead, eventsPerSecond: DEAD_EVENTS_PER_SECOND });
  await until('requests hang at all of them', () => dead.every((each) => each.open() > 0));
  const since = performance.now();
  const { movingAgainSeconds } = await breakIt();
  await sleep(WATCHED_MS[scale]);
  const pauseSeconds = longestPauseMs(receiver, { since, end: performance.now() }) / 1_000;
  await Promise.all([load.stop(), deadLoad.stop()]);
  for (const each of dead) each.answer(200);
  const stoppedAt = performance.now();
  await ledger.untilSettled();
  const atRestSeconds = (performance.now() - stoppedAt) / 1_000;
  const suspects = suspectedIn(stage);
  const note = `${suspects} suspects; healthy endpoints heard nothing for ${pauseSeconds.toFixed(1)} s at most`;
  return { course: { movingAgainSeconds, atRestSeconds, notes: [note] }, suspects };
}

/** The longest time in which no request came to those that answer. */
function longestPauseMs({ received }: Receiver, { since, end }: { since: number; end: number }): number {
  const healthy = received.filter(({ path, at }) => !path.startsWith(`${FOLDER}/`) && at >= since);
  const moments = [since, ...healthy.map(({ at }) => at), end];
  return Math.max(...moments.slice(1).map((at, place) => at - (moments[place] ?? at)));
}

/** How often a service has set a message aside, of all that run. */
function suspectedIn({ stack }: Stage): number {
  const lines = stack.stack.services.flatMap(({ spec }) => logOf(spec));
  return lines.filter(({ msg }) => msg === 'message.suspected').length;
}
