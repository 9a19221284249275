import type { Contender } from '../comparators/contender.ts';
import { inTurn } from './in-turn.ts';
import { fullTimes, measureFull, withContender } from './measure.ts';
import type { Effort } from './scenario.ts';
import { startStand } from './stand.ts';
import { evenly, smallActionKeys } from './workload.ts';

const EVERYBODY = { from: 0, to: 100_000, actionKeys: smallActionKeys };

/** Keeps each contender at full load, in turn, on one stand. Resolves with the measurements, and with their description. */
export async function runFull(contenders: readonly Contender[], { isQuick, rounds, tell }: Effort) {
  const times = fullTimes({ isQuick });
  const workload = evenly(EVERYBODY);
  await using stand = await startStand();
  await stand.seed(EVERYBODY, '/ok');
  const runs = await inTurn({ contenders, rounds, tell }, (contender) =>
    withContender(stand, contender, (running) => measureFull(stand, running, { workload, ...times })),
  );
  const about = {
    workload: `${EVERYBODY.to} subscriptions to ${smallActionKeys.length} actions, events of 300 bytes, receivers answering 200 at once; the line kept full.`,
    settings: { rounds, ...times },
    rounds: Object.fromEntries(runs),
  };
  return { runs, about };
}
