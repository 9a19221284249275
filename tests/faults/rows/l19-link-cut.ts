import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../../testing/ledger.ts';
import { Load } from '../../testing/load.ts';
import type { Receiver } from '../../testing/receiver.ts';
import { logOf } from '../../testing/replica.ts';
import { subscribers } from '../../testing/subscribers.ts';
import { until } from '@waybell/runtime/testing/until';
import type { Course, Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { hungParty, type HungParty } from '../hung-party.ts';
import { buildLinkStage, detourOf } from '../link-stage.ts';
import type { Scale, Stage } from '../stage.ts';

const CUTS = 4;
const EVERY_MS = 2_500;
const DEAD = 4;
const DEAD_EVENTS_PER_SECOND = 10;
const EVENTS_PER_SECOND: Record<Scale, number> = { short: 50, release: 500 };
/** Longer than a request to what is dead may take, so that what would be done about suspects is seen. */
const WATCHED_MS = { short: 30_000, release: 90_000 };

/** A connection is no process: nothing is blamed for that it was cut, and nobody waits for what is dead. */
export const linkCut: Fault[] = [
  {
    row: 'L19',
    name: 'the way to the broker cut four times in ten seconds, beside four dead endpoints',
    // As shipped: what hangs does so for a minute.
    settings: { DELIVER_SLOTS: '', DELIVER_HELD: '' },
    buildStage: buildLinkStage,
    bars: { duplicates: HELD, movingAgainSeconds: 15 },
    run: cutFourTimes,
  },
];

async function cutFourTimes(stage: Stage, ledger: Ledger): Promise<Course> {
  const { receiver, scale } = stage;
  const healthy = await subscribers(stage);
  const dead: HungParty[] = await Promise.all(
    Array.from({ length: DEAD }, () =>
      hungParty(stage, ledger, { interface: 'shipper', action: 'order.paid', folder: '/dead' }),
    ),
  );
  using load = new Load({ ledger, parties: healthy, eventsPerSecond: EVENTS_PER_SECOND[scale] });
  using deadLoad = new Load({ ledger, parties: dead, eventsPerSecond: DEAD_EVENTS_PER_SECOND });
  await until('requests hang at all of them', () => dead.every((each) => each.open() > 0));
  const since = performance.now();
  let movingAgainSeconds = 0;
  for (let cut = 0; cut < CUTS; cut += 1) {
    const cutAt = performance.now();
    detourOf(stage).cut();
    movingAgainSeconds = Math.max(movingAgainSeconds, await ledger.movedAgain(cutAt));
    await sleep(Math.max(0, cutAt + EVERY_MS - performance.now()));
  }
  await sleep(WATCHED_MS[scale]);
  const pauseSeconds = longestPause(receiver, { since, until: performance.now() }) / 1_000;
  await Promise.all([load.stop(), deadLoad.stop()]);
  for (const each of dead) each.answer(200);
  const stoppedAt = performance.now();
  await ledger.untilSettled();
  const suspects = suspectedIn(stage);
  return {
    times: CUTS,
    movingAgainSeconds,
    atRestSeconds: (performance.now() - stoppedAt) / 1_000,
    notes: [`${suspects} suspects; healthy endpoints heard nothing for at most ${pauseSeconds.toFixed(1)} s`],
    problems: suspects === 0 ? [] : [`${suspects} suspects though no process died`],
  };
}

/** The longest time, in milliseconds, in which no request came to those that answer. */
function longestPause({ received }: Receiver, { since, until: end }: { since: number; until: number }): number {
  const healthy = received.filter(({ path, at }) => !path.startsWith('/dead/') && at >= since);
  const moments = [since, ...healthy.map(({ at }) => at), end];
  return Math.max(...moments.slice(1).map((at, place) => at - (moments[place] ?? at)));
}

/** How often a service has set a message aside, of all that run. */
function suspectedIn({ stack }: Stage): number {
  const lines = stack.stack.services.flatMap(({ spec }) => logOf(spec));
  return lines.filter(({ msg }) => msg === 'message.suspected').length;
}
