import type { Bars, Course, Fault } from './fault.ts';
import { PeakMemory } from './peak-memory.ts';
import type { Scale, Stage, Stages } from './stage.ts';

export type Proof = Course & { peakMegabytes: number; problems: string[] };

/** Brings a fault about and sets what it cost against what it may cost. One that does not end leaves no stage to others. */
export async function prove(fault: Fault, { stages, scale }: { stages: Stages; scale: Scale }): Promise<Proof> {
  const stage = await stages.stageFor(fault);
  using memory = new PeakMemory(() => stage.stack.stack.services);
  const course = await runOn(stage, fault).catch(async (error: unknown) => {
    await stages.clear();
    throw error;
  });
  const cost = { ...course, peakMegabytes: memory.megabytes() };
  return { ...cost, problems: [...problemsOf(cost, fault.bars, scale), ...(course.problems ?? [])] };
}

async function runOn(stage: Stage, fault: Fault): Promise<Course> {
  const course = await fault.run(stage);
  // A service that was broken may still be starting; the next fault on this stage begins with asking the API.
  await stage.stack.untilReady();
  return course;
}

type Cost = Course & { peakMegabytes: number };

function problemsOf(
  { balance, times = 1, movingAgainSeconds, peakMegabytes }: Cost,
  bars: Bars,
  scale: Scale,
): string[] {
  const most = (what: string, value: number | undefined, bar: number | undefined) =>
    value !== undefined && bar !== undefined && value > bar ? [`${what}: ${value}, at most ${bar}`] : [];
  return [
    ...most('lost', balance.lost.length, 0),
    ...most('attempts with a gap', balance.withGap.length, 0),
    ...most('recorded as delivered but never seen', balance.unseen.length, 0),
    ...(times === 1 ? most('forked', balance.forked.length, bars.forked ?? 0) : []),
    ...most('duplicates', balance.duplicates, bars.duplicates * times),
    ...most('peak memory in MB', peakMegabytes, bars.megabytes),
    // A slow machine must not fail a daily test.
    ...(scale === 'release' ? most('seconds until moving again', movingAgainSeconds, bars.movingAgainSeconds) : []),
  ];
}
