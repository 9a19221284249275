import type { Balance } from '../testing/balance.ts';
import { Ledger } from '../testing/ledger.ts';
import { closeBooks } from './close-books.ts';
import type { Course, Fault } from './fault.ts';
import { watchMemory } from './peak-memory.ts';
import type { Scale, Stage, Stages } from './stage.ts';

export type Proof = Course & {
  fault: Fault;
  published: number;
  balance: Balance;
  peakMegabytes: number;
  problems: string[];
};

/**
 * Brings faults of one stage about, one after the other, and sets what each cost against what it may cost. What may
 * still come when all has ended is waited for once. One that does not end leaves no stage to others.
 */
export async function prove(
  faults: readonly Fault[],
  { stages, scale }: { stages: Stages; scale: Scale },
): Promise<Proof[]> {
  const [first] = faults;
  if (first === undefined) return [];
  const stage = await stages.stageFor(first);
  const ledger = await Ledger.open(stage.stack, stage.receiver);
  const costs: Cost[] = [];
  for (const fault of faults) {
    ledger.begin(fault.name);
    const cost = await run(fault, { stage, ledger }).catch(async (cause: unknown) => {
      await stages.clear();
      throw new Error(`${fault.row} ${fault.name} has not ended: ${String(cause)}`, { cause });
    });
    costs.push(cost);
  }
  const amiss = costs.every(({ books }) => books !== undefined) ? [] : await closeBooks(stage, ledger);
  return costs.map((cost) => {
    const proof = { ...cost, published: cost.published, balance: ledger.balance(cost.fault.name), ...cost.books };
    return { ...proof, problems: [...problemsOf(proof, ledger, scale), ...(cost.problems ?? []), ...amiss] };
  });
}

type Cost = Course & { fault: Fault; published: number; peakMegabytes: number };

async function run(fault: Fault, { stage, ledger }: { stage: Stage; ledger: Ledger }): Promise<Cost> {
  using memory = watchMemory(stage.stack.stack.services);
  const course = await fault.run(stage, ledger);
  // A service that was broken may still be starting; the next fault on this stage begins with asking the API.
  await stage.stack.untilReady();
  return { ...course, fault, published: ledger.published, peakMegabytes: memory.megabytes() };
}

const MOST_NAMED = 5;

function problemsOf(
  { fault: { bars }, balance, times = 1, movingAgainSeconds, peakMegabytes }: Cost & { balance: Balance },
  ledger: Ledger,
  scale: Scale,
): string[] {
  const most = (what: string, value: number | undefined, bar: number | undefined) =>
    value !== undefined && bar !== undefined && value > bar ? [`${what}: ${value}, at most ${bar}`] : [];
  return [
    ...lossesOf(balance, ledger),
    ...(times === 1 ? most('forked', balance.forked.length, bars.forked ?? 0) : []),
    ...most('duplicates', balance.duplicates, bars.duplicates * times),
    ...most('peak memory in MB', peakMegabytes, bars.megabytes),
    ...(scale === 'release' ? most('seconds until moving again', movingAgainSeconds, bars.movingAgainSeconds) : []),
  ];
}

/** What was taken away by hand is to be missed, and nothing else. */
function lossesOf({ lost }: Balance, { takenAway }: Ledger): string[] {
  const others = lost.filter(({ delivery = '' }) => !takenAway.has(delivery));
  const named = others.slice(0, MOST_NAMED).map(({ event, delivery = event, why }) => `lost ${delivery}: ${why}`);
  return others.length > MOST_NAMED ? [...named, `${others.length} lost in all`] : named;
}
