import { Dice } from '../actions/generate/dice.ts';
import { sumOf, type Balance } from '../testing/balance.ts';
import { Ledger } from '../testing/ledger.ts';
import { closeBooks } from './close-books.ts';
import type { Course } from './fault.ts';
import type { Scale, Stage } from './stage.ts';
import { underLoad } from './under-load.ts';

/** `SOAK_SEED=7 ./waybell test faults L16` does again what seed 7 did; `SOAK_MINUTES` says for how long. */
export const soakSeed = Number(process.env['SOAK_SEED'] ?? Date.now() % 100_000);
const soakMinutes = Number(process.env['SOAK_MINUTES'] ?? NaN);

export type SoakOptions = {
  minutes: Record<Scale, number>;
  /** Breaks things for a while: until `endsAt`, by the monotonic clock, at the latest. What had to hold and did not. */
  round: (stage: Stage, given: { dice: Dice; endsAt: number }) => Promise<string[] | void>;
};

/**
 * Round after round of mishaps under load. After each the line may come to rest and the books are closed: a ledger of
 * hours would not fit into memory.
 */
export function soakOf({ minutes, round }: SoakOptions) {
  return async (stage: Stage): Promise<Course> => {
    const endsAt = performance.now() + (soakMinutes || minutes[stage.scale]) * 60_000;
    const dice = new Dice(soakSeed);
    const balances: Balance[] = [];
    const problems: string[] = [];
    let published = 0;
    const load = underLoad(() => round(stage, { dice, endsAt }), { eventsPerSecond: { release: 200 } });
    do {
      await stage.stack.untilReady();
      stage.receiver.received.length = 0;
      const ledger = await Ledger.open(stage.stack, stage.receiver);
      const course = await load(stage, ledger);
      problems.push(...(course.problems ?? []), ...(await closeBooks(stage, ledger)));
      balances.push(ledger.balance());
      published += ledger.published;
      say(`round ${balances.length}: ${ledger.published} events, ${balances.at(-1)?.lost.length} lost`);
    } while (performance.now() < endsAt);
    return { books: { published, balance: sumOf(balances) }, times: balances.length, problems };
  };
}

/** Shows the progress of a bench. */
export function say(what: string): void {
  process.stderr.write(`    ${new Date().toISOString()} ${what}\n`);
}
