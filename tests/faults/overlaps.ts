import { setTimeout as sleep } from 'node:timers/promises';
import type { Dice } from '../actions/generate/dice.ts';
import { exclude, type Mishap } from './mishaps.ts';
import { say } from './soak.ts';
import type { Stage } from './stage.ts';

/** A mishap with its place in a round: from when on, and for how long, in milliseconds. */
export type Planned = { mishap: Mishap; atMs: number; forMs: number };

const AT_ONCE = 3;
const PAUSE_MS = { least: 500, most: 4_000 };
const LASTS_MS = { least: 2_000, most: 15_000 };
/** Time until a part that has recovered can be broken again. */
const SETTLED_MS = 3_000;

/** Mishaps of which up to three go on at once, in so long: the same ones wherever the dice fall so. */
export function planOverlaps(mishaps: readonly Mishap[], dice: Dice, lengthMs: number): Planned[] {
  const planned: Planned[] = [];
  const between = ({ least, most }: typeof PAUSE_MS) => least + dice.below(most - least);
  for (let atMs = 0; atMs < lengthMs; atMs += between(PAUSE_MS)) {
    const forMs = between(LASTS_MS);
    const underWay = planned.filter((each) => each.atMs + each.forMs + SETTLED_MS > atMs);
    const possible = mishaps.filter((mishap) => underWay.every((each) => !exclude(each.mishap, mishap)));
    if (underWay.length < AT_ONCE && possible.length > 0) planned.push({ mishap: dice.pick(possible), atMs, forMs });
  }
  return planned;
}

type Run = { mishap: Mishap; ended: Promise<void> };

/** Brings them about as planned; one that excludes what has not ended yet waits for that. Rejects where one cannot be ended. */
export async function goThrough(stage: Stage, planned: readonly Planned[]): Promise<void> {
  const since = performance.now();
  const runs: Run[] = [];
  for (const { mishap, atMs, forMs } of planned) {
    await sleep(Math.max(0, atMs - (performance.now() - since)));
    const before = runs.filter((run) => exclude(run.mishap, mishap));
    await Promise.allSettled(before.map(({ ended }) => ended));
    const ended = goThroughOne(stage, mishap, forMs);
    // Heard of below.
    ended.catch(() => undefined);
    runs.push({ mishap, ended });
  }
  const failed = (await Promise.allSettled(runs.map(({ ended }) => ended))).find((end) => end.status === 'rejected');
  if (failed !== undefined) throw failed.reason;
}

async function goThroughOne(stage: Stage, { name, begin }: Mishap, forMs: number): Promise<void> {
  say(name);
  const end = await begin(stage);
  await sleep(forMs);
  await end();
  say(`over: ${name}`);
}
