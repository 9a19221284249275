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
  /** The lost of the balance, except what was taken away by hand, which is to be missed. */
  lost: Balance['lost'];
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
    const books = { published: cost.published, balance: ledger.balance(cost.fault.name), ...cost.books };
    const lost = books.balance.lost.filter(({ delivery = '' }) => !ledger.takenAway.has(delivery));
    const proof = { ...cost, ...books, lost };
    return { ...proof, problems: [...problemsOf(proof, scale), ...(cost.problems ?? []), ...amiss] };
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
  {
    fault: { bars },
    balance,
    lost,
    times = 1,
    movingAgainSeconds,
    peakMegabytes,
  }: Cost & Pick<Proof, 'balance' | 'lost'>,
  scale: Scale,
): string[] {
  const most = (what: string, value: number | undefined, bar: number | undefined) =>
    value !== undefined && bar !== undefined && value > bar ? [`${what}: ${value}, at most ${bar}`] : [];
  return [
    ...lossesOf(lost),
    ...(times === 1 ? most('forked', balance.forked.length, bars.forked ?? 0) : []),
    ...most('duplicates', balance.duplicates, bars.duplicates * times),
    ...most('peak memory in MB', peakMegabytes, bars.megabytes),
    ...(scale === 'release' ? most('seconds until moving again', movingAgainSeconds, bars.movingAgainSeconds) : []),
  ];
}

function lossesOf(lost: Balance['lost']): string[] {
  const named = lost.slice(0, MOST_NAMED).map(({ event, delivery = event, why }) => `lost ${delivery}: ${why}`);
  return lost.length > MOST_NAMED ? [...named, `${lost.length} lost in all`] : named;
}
