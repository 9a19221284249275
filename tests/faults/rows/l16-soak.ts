import { setTimeout as sleep } from 'node:timers/promises';
import { serviceNames } from '@waybell/stack/services';
import { Dice } from '../../actions/generate/dice.ts';
import { sumOf, type Balance } from '../../testing/balance.ts';
import { Ledger } from '../../testing/ledger.ts';
import { alarmed } from '../alarmed.ts';
import { killServer, stopServer } from '../break-server.ts';
import { closeBooks } from '../close-books.ts';
import type { Course, Fault } from '../fault.ts';
import { shippedDatabaseTimeout } from '../fault-settings.ts';
import type { Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

const AWAY_MS = 3_000;
const PAUSE_MS = { least: 5_000, most: 20_000 };
/** After so many the line may come to rest and the books are closed: a ledger of hours would not fit into memory. */
const MISHAPS_A_ROUND = 8;
const MINUTES = { short: 1, release: 60 };
/** `SOAK_SEED=7 ./waybell test faults L16` does again what seed 7 did; `SOAK_MINUTES` says for how long. */
const seed = Number(process.env['SOAK_SEED'] ?? Date.now() % 100_000);
const minutes = Number(process.env['SOAK_MINUTES'] ?? NaN);

type Mishap = (stage: Stage) => Promise<unknown>;

const mishaps: Record<string, Mishap> = {
  ...Object.fromEntries(
    serviceNames.flatMap((name): [string, Mishap][] => [
      [`${name} killed`, ({ stack }) => stack.stack.service(name).kill()],
      [`${name} restarted`, ({ stack }) => stack.stack.service(name).restart()],
    ]),
  ),
  ...Object.fromEntries(
    (['rabbitmq', 'postgres', 'redis'] as const).flatMap((name): [string, Mishap][] => [
      [`${name} killed`, (stage) => killServer(stage, name)],
      [`${name} stopped`, (stage) => stopServer(stage, name, AWAY_MS)],
    ]),
  ),
  'memory alarm': (stage) => alarmed(stage, 'memory', () => sleep(AWAY_MS)),
};

/** One mishap after the other, at random, for as long as it takes to trust it. */
export const soak: Fault[] = [
  {
    row: 'L16',
    name: `anything, every ${PAUSE_MS.least / 1_000} to ${PAUSE_MS.most / 1_000} s (seed ${seed})`,
    settings: shippedDatabaseTimeout,
    bars: { duplicates: Infinity },
    run: soakIn,
  },
];

async function soakIn(stage: Stage): Promise<Course> {
  const endsAt = performance.now() + (minutes || MINUTES[stage.scale]) * 60_000;
  const dice = new Dice(seed);
  const balances: Balance[] = [];
  const problems: string[] = [];
  let published = 0;
  const load = underLoad(() => oneRound(stage, { dice, endsAt }), { eventsPerSecond: { release: 200 } });
  do {
    await stage.stack.untilReady();
    stage.receiver.received.length = 0;
    const ledger = await Ledger.open(stage.stack, stage.receiver);
    const round = await load(stage, ledger);
    problems.push(...(round.problems ?? []), ...(await closeBooks(stage, ledger)));
    balances.push(ledger.balance());
    published += ledger.published;
    say(`round ${balances.length}: ${ledger.published} events, ${balances.at(-1)?.lost.length} lost`);
  } while (performance.now() < endsAt);
  return { books: { published, balance: sumOf(balances) }, times: balances.length, problems };
}

async function oneRound(stage: Stage, { dice, endsAt }: { dice: Dice; endsAt: number }): Promise<void> {
  for (let count = 0; count < MISHAPS_A_ROUND && performance.now() < endsAt; count += 1) {
    const [name, mishap] = dice.pick(Object.entries(mishaps));
    say(name);
    await mishap(stage);
    await sleep(PAUSE_MS.least + dice.below(PAUSE_MS.most - PAUSE_MS.least));
  }
}

/** So long a bench shows how far it is. */
function say(what: string): void {
  process.stderr.write(`    ${new Date().toISOString()} ${what}\n`);
}
