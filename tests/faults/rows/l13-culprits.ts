import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../../testing/ledger.ts';
import { subscribed, type Subscribed } from '../../testing/subscribers.ts';
import { besideTheDead } from '../beside-the-dead.ts';
import { crowds } from '../crowd.ts';
import type { Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import type { Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

const CULPRITS = { short: 10, release: 100 };
const CULPRIT_EVERY_MS = 100;
/** A killer is taken three times in its batch, five times by itself, and five times as a suspect. */
const KILLS = 13;
const KILLERS = { short: 2, release: 10 };
/** Innocents published with a killer, of the same action. */
const CROWD = 12;
/** A request to here ends the deliverer that is about to send it. */
const DEADLY_PATH = '/deadly';
const DEADLY = {
  NODE_OPTIONS: `--import=${new URL('../kill-by-request.ts', import.meta.url).href}`,
  KILLING: `POST ${DEADLY_PATH}/`,
};

export const culpritsAmongOthers: Fault[] = [
  {
    row: 'L13',
    name: 'a handler that throws for one message in a thousand',
    bars: { duplicates: 0, movingAgainSeconds: 5 },
    run: underLoad(async (stage, ledger) => {
      const culprit = await aCulprit(stage, '/culprit', 'handler_failed');
      // A token that cannot be opened, as after a botched restore: the handler throws at each delivery to it.
      await stage.stack.postgres.query(
        "update waybell.subscriptions set verification_token_sealed = '\\x00' where guid = $1",
        [culprit.addresses[0]?.subscription],
      );
      await publishEach(ledger, { culprit, count: CULPRITS[stage.scale], everyMs: CULPRIT_EVERY_MS });
    }),
  },
  killers('a message that kills its process each time', 1_000),
  killers('a class of messages that kill their process each time, all at once', 0),
  {
    row: 'L13',
    name: 'a message that kills its process each time, beside four dead endpoints',
    settings: DEADLY,
    bars: { duplicates: HELD },
    run: async (stage, ledger) => {
      const deliverer = stage.stack.stack.service('deliverer');
      const before = deliverer.restarts;
      const { course } = await besideTheDead(stage, ledger, async () => {
        const since = performance.now();
        await ledger.publish(await aCulprit(stage, DEADLY_PATH, 'process_killed'));
        return { movingAgainSeconds: await ledger.movedAgain(since) };
      });
      return { ...course, times: deliverer.restarts - before };
    },
  },
];

/** Each comes so long after the one before, with innocents before and behind it. */
function killers(name: string, everyMs: number): Fault {
  return {
    row: 'L13',
    name,
    settings: DEADLY,
    bars: { duplicates: HELD },
    run: async (stage, ledger) => {
      const deliverer = stage.stack.stack.service('deliverer');
      const before = deliverer.restarts;
      const course = await underLoad((among, told) => publishKillers(among, told, everyMs))(stage, ledger);
      const [kills, most] = [deliverer.restarts - before, KILLS * KILLERS[stage.scale]];
      const tooMany = kills > most ? [`${kills} processes killed, at most ${most}`] : [];
      const notes = [`${kills} processes killed by ${KILLERS[stage.scale]} messages`];
      return { ...course, times: kills, notes, problems: [...(course.problems ?? []), ...tooMany] };
    },
  };
}

async function publishKillers(stage: Stage, ledger: Ledger, everyMs: number): Promise<void> {
  const culprit = await aCulprit(stage, DEADLY_PATH, 'process_killed');
  const innocents = await crowds(stage, 2);
  for (let killer = 0; killer < KILLERS[stage.scale]; killer += 1) {
    const beside = Array.from({ length: CROWD }, (_, place) => innocents[place % innocents.length] ?? culprit);
    await Promise.all(beside.toSpliced(CROWD / 2, 0, culprit).map((party) => ledger.publish(party)));
    await sleep(everyMs);
  }
}

function aCulprit(stage: Stage, folder: string, reason: string): Promise<Subscribed> {
  const ends = [{ kind: 'rejected', reason }] as const;
  return subscribed(stage, { interface: 'shipper', action: 'order.paid', folder, answers: [], ends });
}

type Plan = { culprit: Subscribed; count: number; everyMs: number };

async function publishEach(ledger: Ledger, { culprit, count, everyMs }: Plan): Promise<void> {
  for (let published = 0; published < count; published += 1) {
    await ledger.publish(culprit);
    await sleep(everyMs);
  }
}
