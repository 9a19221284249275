import { setTimeout as sleep } from 'node:timers/promises';
import { DAY_MS } from '@waybell/delivery-log/write/partitions';
import { Dice } from '@waybell/tests/actions/generate/dice';
import type { LogHistory } from './log-history.ts';
import { lookupsIn } from './log-lookups.ts';
import { attemptAlone, batchesOf } from './log-records.ts';
import { logWriterIn } from './log-writer.ts';
import type { PostgresStand } from './postgres-stand.ts';
import { summarise, type Summary } from './statistics.ts';

export type Waits = Record<'timeline' | 'delivery' | 'writer', Summary>;
export type DropWaits = { alone: Waits; dropping: Waits; dropMs: number };

/** Two cores are shared by all of them, and by Postgres. */
const PAUSE_MS = 10;

type Watched = { url: string; history: LogHistory; watchMs: number };

/** How long readers and a writer wait, each busy again 10 ms after its answer; and while the oldest day is dropped. */
export async function dropWhileUsed({ url }: PostgresStand, history: LogHistory, watchMs: number): Promise<DropWaits> {
  const watched = { url, history, watchMs };
  await using tomorrow = logWriterIn(url, () => Date.now() + DAY_MS);
  await using today = logWriterIn(url);
  await today.partitions.turnOver();
  const alone = await watch(watched);
  const beganAt = performance.now();
  let dropMs = Number.NaN;
  const dropping = tomorrow.partitions.turnOver().then((dropped) => {
    dropMs = performance.now() - beganAt;
    if (dropped.length === 0) throw new Error('there was no day to drop');
  });
  const [waits] = await Promise.all([watch(watched), dropping]);
  return { alone, dropping: waits, dropMs };
}

async function watch({ url, history, watchMs }: Watched): Promise<Waits> {
  await using lookups = lookupsIn(url, history);
  await using writer = logWriterIn(url);
  const isOver = AbortSignal.timeout(watchMs);
  const repeat = async (work: () => Promise<number>) => {
    const waitsMs: number[] = [];
    while (!isOver.aborted) {
      waitsMs.push(await work());
      await sleep(PAUSE_MS);
    }
    return summarise(waitsMs);
  };
  const dice = new Dice(watchMs);
  const write = async () => {
    const [batch = []] = batchesOf(1, attemptAlone, Date.now());
    const beganAt = performance.now();
    await writer.write(batch);
    return performance.now() - beganAt;
  };
  const [timeline, delivery, written] = await Promise.all([
    repeat(() => lookups.timeline(dice)),
    repeat(() => lookups.delivery(dice)),
    repeat(write),
  ]);
  return { timeline, delivery, writer: written };
}
