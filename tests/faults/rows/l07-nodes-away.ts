import { setTimeout as sleep } from 'node:timers/promises';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import type { Ledger } from '../../testing/ledger.ts';
import { RabbitmqCluster } from '../../testing/rabbitmq-cluster.ts';
import type { Course, Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { freeze } from '../freeze.ts';
import { buildPlainStage, partOf, type Scale, type Settings, type Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';
import { scheduleOf } from '../../testing/schedule-of.ts';

const AWAY_MS = { short: 20_000, release: 60_000 };
const STANDS_STILL_MS = 60_000;
/** A delivery that is late for longer waits for an intervention. */
const LATE_SECONDS = 60;
// Three brokers beside everything else: more would be late without any fault.
const SHORT_EVENTS_PER_SECOND = 60;

/** `node` is the one of three that leads most queues. Resolves with what did not hold, when nothing more is done to the cluster. */
type Disturb = (cluster: RabbitmqCluster, node: SupervisedProcess, awayMs: number) => Promise<string[] | void>;

const faults: Record<string, Disturb> = {
  async 'the leader of most queues killed, and back'(_, node, awayMs) {
    await node.kill();
    await sleep(awayMs);
    await node.start();
  },
  async 'the leader of most queues cut off, and back'(cluster, node, awayMs) {
    await cluster.cutOff(node, awayMs);
    await sleep(awayMs);
  },
  async 'the leader of most queues still for a minute'(_, node) {
    const goOn = freeze(node);
    await sleep(STANDS_STILL_MS).finally(goOn);
  },
  async 'the leader of most queues replaced, empty disk'(cluster, node, awayMs) {
    await node.kill();
    await sleep(awayMs);
    await cluster.replace(node);
  },
  async 'each node restarted, one after the other'(cluster) {
    for (const node of cluster.nodes) {
      await node.restart();
      await cluster.untilComplete();
    }
  },
  async 'leaders rebalanced'(cluster, node) {
    await node.restart();
    await cluster.untilComplete();
    const before = await cluster.ledByEach();
    await cluster.rebalance();
    const after = await cluster.ledByEach();
    const spread = (led: number[]) => Math.max(...led) - Math.min(...led);
    return spread(after) < spread(before)
      ? []
      : [`the nodes led ${before.join(', ')} queues, and then ${after.join(', ')}`];
  },
};

export const nodesAway: Fault[] = Object.entries(faults).map(([name, disturb]) => ({
  row: 'L7',
  name,
  buildStage: buildClusterStage,
  bars: { duplicates: HELD, movingAgainSeconds: LATE_SECONDS },
  run: (stage, ledger) => runOn(stage, ledger, disturb),
}));

/** "moving again" in its notes is the longest delay of anything. */
async function runOn(stage: Stage, ledger: Ledger, disturb: Disturb): Promise<Course> {
  const cluster = partOf(stage, RabbitmqCluster);
  let [beganAt, completeAt] = [0, 0];
  const inject = async () => {
    const node = await cluster.leaderOfMost();
    beganAt = performance.now();
    const problems = await disturb(cluster, node, AWAY_MS[stage.scale]);
    await cluster.untilComplete();
    completeAt = performance.now();
    return problems;
  };
  const course = await underLoad(inject, { eventsPerSecond: { short: SHORT_EVENTS_PER_SECOND } })(stage, ledger);
  const notes = [`every queue had all of its members ${((completeAt - beganAt) / 1_000).toFixed(0)} s after it began`];
  return { ...course, movingAgainSeconds: latestSince(beganAt, stage, ledger), notes };
}

async function buildClusterStage(settings: Settings, scale: Scale) {
  const cluster = await RabbitmqCluster.start();
  const stage = await buildPlainStage({ ...settings, AMQP_URL: cluster.url }, scale, { beneath: cluster });
  return { ...stage, cluster };
}

/**
 * The longest, in seconds, that a first attempt came after the publishing of its event, or a retry after its delay: of the
 * requests that were due from `since` on. Endpoints that never answer with success are left out, as their deliveries wait.
 */
function latestSince(since: number, { stack, receiver }: Stage, ledger: Ledger): number {
  const schedule = scheduleOf(stack);
  const lastAt = new Map<string, number>();
  let latestMs = 0;
  for (const { path, headers, at } of receiver.received) {
    const [delivery, attempt] = [String(headers['webhook-id']), Number(headers['x-webhook-attempt'])];
    lastAt.set(`${delivery} ${attempt}`, at);
    const [, side, folder] = path.split('/');
    const delays = side === 'shipper' ? schedule.shipper : schedule.carrier;
    const failedAt = lastAt.get(`${delivery} ${attempt - 1}`) ?? NaN;
    const dueAt = attempt === 1 ? (ledger.sentAt(delivery) ?? NaN) : failedAt + (delays[attempt - 2] ?? NaN);
    // Never where it is not known, as of an event before this ledger.
    if (dueAt >= since && folder !== 'dead') latestMs = Math.max(latestMs, at - dueAt);
  }
  return latestMs / 1_000;
}
