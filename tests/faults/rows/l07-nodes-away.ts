import { setTimeout as sleep } from 'node:timers/promises';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import { readSchedule, scheduleSettings } from '@waybell/line/line-topology';
import { readEnvironment } from '@waybell/runtime/environment';
import type { Ledger } from '../../testing/ledger.ts';
import { RabbitmqCluster } from '../../testing/rabbitmq-cluster.ts';
import type { Received } from '../../testing/receiver.ts';
import type { Course, Fault } from '../fault.ts';
import { faultSettings, HELD } from '../fault-settings.ts';
import { buildPlainStage, type BuiltStage, type Scale, type Settings, type Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

const AWAY_MS = { short: 20_000, release: 60_000 };
/** Once a node has gone or come back, retries may be late for so long. */
const UNSETTLED_MS = 15_000;
const LATE_MS = 1_000;
// Three brokers beside everything else: more would be late without any fault.
const SHORT_EVENTS_PER_SECOND = 60;

type Away = (cluster: RabbitmqCluster, node: SupervisedProcess, awayMs: number) => Promise<void>;

/** What happens to one node of three. Each resolves when the cluster is whole again. */
const faults: Record<string, Away> = {
  async 'a node of three killed, which leads queues'(cluster, node, awayMs) {
    await node.kill();
    await sleep(awayMs);
    await node.start();
    await cluster.untilWhole();
  },
  async 'a node of three cut off from the others, and back'(cluster, node, awayMs) {
    await cluster.cutOff(node, awayMs);
    await sleep(awayMs);
    await cluster.untilWhole();
  },
};

export const nodesAway: Fault[] = Object.entries(faults).map(([name, away]) => ({
  row: 'L7',
  name,
  buildStage: buildClusterStage,
  bars: { duplicates: HELD, movingAgainSeconds: 60 },
  run: (stage, ledger) => runOn(stage, ledger, away),
}));

async function runOn(stage: Stage, ledger: Ledger, away: Away): Promise<Course> {
  const cluster = clusterOf(stage);
  // The ledger's own queue is on the first node.
  const [, node] = cluster.nodes;
  if (node === undefined) throw new Error('this cluster has no second node');
  const seen = { led: [] as string[], beganAt: performance.now(), goneAt: 0, backAt: 0 };
  const inject = async () => {
    seen.led = await cluster.ledBy(node);
    seen.goneAt = performance.now();
    await away(cluster, node, AWAY_MS[stage.scale]);
    seen.backAt = performance.now();
    await sleep(UNSETTLED_MS + LATE_MS);
  };
  const options = { eventsPerSecond: { short: SHORT_EVENTS_PER_SECOND }, check: () => problemsOf(stage, seen) };
  return underLoad(inject, options)(stage, ledger);
}

type SeenByRow = { led: string[]; beganAt: number; goneAt: number; backAt: number };

function problemsOf({ receiver }: Stage, { led, beganAt, goneAt, backAt }: SeenByRow): string[] {
  if (led.length === 0) return ['the node led no queue'];
  const isOther = ({ path }: { path: string }) => !led.some((queue) => `${queue}.`.includes(`.${actionKeyOf(path)}.`));
  const dueAt = lateAmong(receiver.received.filter(isOther));
  // Not since ever: the same cluster may have been through another fault.
  if (dueAt.some((at) => at >= beganAt && at < goneAt))
    return ['retries were late before the fault: this machine is too busy to tell'];
  const unsettled = dueAt.filter((at) => (at > goneAt + UNSETTLED_MS && at < backAt) || at > backAt + UNSETTLED_MS);
  if (unsettled.length === 0) return [];
  const [first, last, back] = [Math.min(...unsettled), Math.max(...unsettled), backAt].map((at) =>
    seconds(at - goneAt),
  );
  return [
    `${unsettled.length} retries of other actions late, due ${first} to ${last} s after it was gone; it was back after ${back} s`,
  ];
}

const seconds = (ms: number): string => (ms / 1_000).toFixed(1);

/** When those retries were due that came late: their delay after the last request with the attempt before. */
function lateAmong(received: readonly Received[]): number[] {
  const lastAt = new Map<string, number>();
  return received.flatMap(({ path, headers, at }) => {
    const [delivery, attempt] = [String(headers['webhook-id']), Number(headers['x-webhook-attempt'])];
    lastAt.set(`${delivery} ${attempt}`, at);
    const dueAt = (lastAt.get(`${delivery} ${attempt - 1}`) ?? NaN) + (delaysMsAt(path)[attempt - 2] ?? NaN);
    return at - dueAt > LATE_MS ? [dueAt] : [];
  });
}

/** Receivers' paths begin with the interface and end with the action. */
const actionKeyOf = (path: string): string => `${path.split('/')[1]}.${path.split('/').at(-1)}`;

const schedule = readSchedule(readEnvironment(scheduleSettings, faultSettings));
const delaysMsAt = (path: string): readonly number[] =>
  path.startsWith('/shipper/') ? schedule.shipper : schedule.carrier;

type ClusterStage = BuiltStage & { cluster: RabbitmqCluster };

async function buildClusterStage(settings: Settings, scale: Scale): Promise<ClusterStage> {
  const cluster = await RabbitmqCluster.start();
  const ground = { brokerUrl: cluster.nodes[0]?.spec.address ?? '', beneath: cluster };
  return { ...(await buildPlainStage({ ...settings, AMQP_URL: cluster.url }, scale, ground)), cluster };
}

function clusterOf(stage: Stage): RabbitmqCluster {
  if ('cluster' in stage && stage.cluster instanceof RabbitmqCluster) return stage.cluster;
  throw new Error('this stage has no cluster');
}
