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

type Place = { stages: Stages; scale: Scale };

/** Brings a fault about, and sets what it cost against what it may cost. */
export async function prove(fault: Fault, place: Place): Promise<Proof> {
  const proving = await Proving.begin(fault, place);
  await proving.bringAbout(fault);
  const [proof] = await proving.settle();
  if (proof === undefined) throw new Error(`${nameOf(fault)} has cost nothing that is known`);
  return proof;
}

/** Faults of one stage, one after the other. What may still come when all have ended is waited for once. */
export class Proving {
  readonly #stage: Stage;
  readonly #ledger: Ledger;
  readonly #place: Place;
  readonly #costs: Cost[] = [];
  #unended: Fault | undefined;

  private constructor(stage: Stage, ledger: Ledger, place: Place) {
    this.#stage = stage;
    this.#ledger = ledger;
    this.#place = place;
  }

  /** Builds the stage that this one needs, and so do the others. */
  static async begin(fault: Fault, place: Place): Promise<Proving> {
    const stage = await place.stages.stageFor(fault);
    return new Proving(stage, await Ledger.open(stage.stack, stage.receiver), place);
  }

  /** Resolves when it is over. One that does not end leaves no stage to others. */
  async bringAbout(fault: Fault): Promise<void> {
    this.#expectStage();
    this.#ledger.begin(fault.name);
    const cost = await run(fault, { stage: this.#stage, ledger: this.#ledger }).catch(async (cause: unknown) => {
      this.#unended = fault;
      await this.#place.stages.clear();
      throw new Error(`${nameOf(fault)} has not ended: ${String(cause)}`, { cause });
    });
    this.#costs.push(cost);
  }

  /** Sets what each cost against what it may cost. */
  async settle(): Promise<Proof[]> {
    this.#expectStage();
    const ledger = this.#ledger;
    const hasOwnBooks = this.#costs.every(({ books }) => books !== undefined);
    const amiss = hasOwnBooks ? [] : await closeBooks(this.#stage, ledger);
    return this.#costs.map((cost) => {
      const books = { published: cost.published, balance: ledger.balance(cost.fault.name), ...cost.books };
      const lost = books.balance.lost.filter(({ delivery = '' }) => !ledger.takenAway.has(delivery));
      const proof = { ...cost, ...books, lost };
      return { ...proof, problems: [...problemsOf(proof, this.#place.scale), ...(cost.problems ?? []), ...amiss] };
    });
  }

  #expectStage(): void {
    if (this.#unended !== undefined) throw new Error(`there is no stage: ${nameOf(this.#unended)} has not ended on it`);
  }
}

const nameOf = ({ row, name }: Fault) => `${row} ${name}`;

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
