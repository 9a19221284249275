import { execFile } from 'node:child_process';
import { mkdir, rm, stat, statfs, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { BROKER_SETTINGS } from '@waybell/stack/rabbitmq';
import { rabbitmqctl } from '@waybell/stack/rabbitmqctl';
import { queueDepths } from '@waybell/stack/queue-depths';
import { deliveryQueue } from '@waybell/line/topology';
import type { Ledger } from '../../testing/ledger.ts';
import { Load } from '../../testing/load.ts';
import { subscribed } from '../../testing/subscribers.ts';
import { until } from '@waybell/runtime/testing/until';
import { alarmed } from '../alarmed.ts';
import { untilRouted } from '../backlog.ts';
import type { Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import type { Stage } from '../stage.ts';
import { underLoad, type Inject } from '../under-load.ts';

const ALARM_MS = { short: 2_000, release: 20_000 };
const BACKLOG = { short: 1_000, release: 20_000 };
const FAILING_PER_SECOND = { short: 200, release: 500 };
const SLOW_MS = 500;

const faults: Record<string, Inject> = {
  async 'a memory alarm'(stage) {
    await alarmed(stage, 'memory', () => sleep(ALARM_MS[stage.scale]));
  },
  async 'a disk alarm'(stage) {
    await alarmed(stage, 'disk', () => sleep(ALARM_MS[stage.scale]));
  },
  'the disk of RabbitMQ filled by something else': fullDisk,
  async 'an alarm over a backlog, which drains meanwhile'(stage) {
    const { stack, receiver, scale } = stage;
    await stack.stack.service('deliverer').stop();
    // Routed as well: during the alarm the router adds nothing.
    await untilRouted(stage, BACKLOG[scale]);
    await alarmed(stage, 'memory', async () => {
      const received = () => receiver.received.length;
      const seen = received();
      await stack.stack.service('deliverer').start();
      // Failed ones are held, and fill the limit in the end.
      await until('more has left than it may hold', () => received() > seen + 2 * HELD, received);
    });
  },
  'an alarm that lasts as long as its backlog, of receivers that fail or take their time': drainOfFailures,
};

/** Beside what the broker has already, and less than what stays free: the alarm comes by what the other file takes. */
const ROOM = 2 ** 28;
const LIMIT = Number.parseInt(BROKER_SETTINGS['disk_free_limit.absolute'], 10) * 1_000_000;

/**
 * Puts the broker's data on a small disk, which something else fills while the broker works: first below its limit, then to the
 * last byte. Afterwards the disk is larger, and the broker starts again. Needs the right to mount.
 */
async function fullDisk({ stack, scale }: Stage): Promise<string[]> {
  const broker = stack.stack.servers.process('rabbitmq');
  const [disk, data] = [join(stack.home, 'small-disk'), join(stack.home, 'rabbitmq/data')];
  await mkdir(disk);
  await run('mount', ['-t', 'tmpfs', '-o', `size=${LIMIT + ROOM},mode=0777`, 'tmpfs', disk]);
  try {
    await broker.stop();
    await run('cp', ['-a', `${data}/.`, disk]);
    await run('mv', [data, `${data}-before`]);
    await symlink(disk, data);
    await broker.start();
    await sleep(ALARM_MS.short);
    await fill(disk, LIMIT / 2);
    const alarms = () => rabbitmqctl(broker.spec, 'eval', 'rabbit_alarm:get_alarms().');
    await until('it has an alarm', async () => (await alarms()).includes('disk'), alarms);
    await sleep(ALARM_MS[scale]);
    await fill(disk, 0);
    await sleep(ALARM_MS[scale]);
    await rm(join(disk, OTHER));
    await broker.stop();
    await rm(data);
    await run('cp', ['-a', disk, data]);
  } finally {
    await run('umount', ['--lazy', disk]);
  }
  await broker.start();
  const queues = await rabbitmqctl(broker.spec, 'list_queues', 'type', 'leader', 'name');
  return queues
    .split('\n')
    .map((line) => line.split('\t'))
    .filter(([type, leader]) => type === 'quorum' && leader === '')
    .map(([, , name]) => `${name} did not come back`);
}

const OTHER = 'of-something-else';

/** Has the other file take all of the disk, but so many bytes. */
async function fill(disk: string, leftBytes: number): Promise<void> {
  const other = join(disk, OTHER);
  const { bavail, bsize } = await statfs(disk);
  const { size } = await stat(other).catch(() => ({ size: 0 }));
  await run('fallocate', ['--length', String(Math.max(1, size + bavail * bsize - leftBytes)), other]);
}

async function run(command: string, args: string[]): Promise<void> {
  await promisify(execFile)(command, args);
}

/**
 * The time at which a broker frees memory is not predictable, so the alarm is raised by hand; but it ends only with the backlog.
 * Far more deliveries fail than can be held.
 */
async function drainOfFailures(stage: Stage, ledger: Ledger): Promise<void> {
  const { stack, scale } = stage;
  const shipper = (folder: string, action: string) => ({ interface: 'shipper', folder, action }) as const;
  const parties = await Promise.all([
    subscribed(stage, { ...shipper('/failing', 'order.paid'), answers: Array.from({ length: 6 }, () => 500) }),
    subscribed(stage, { ...shipper('/failing', 'order.booked'), answers: [503, 503, 200] }),
    subscribed(stage, { ...shipper('/slow', 'order.delivered'), answers: [200], slowMs: SLOW_MS }),
  ]);
  await stack.stack.service('deliverer').stop();
  using load = new Load({ ledger, parties, eventsPerSecond: FAILING_PER_SECOND[scale] });
  await untilRouted(stage, BACKLOG[scale] + 4 * HELD);
  await load.stop();
  await alarmed(stage, 'memory', async () => {
    await stack.stack.service('deliverer').start();
    let left: number | undefined;
    await until(
      'the backlog is gone',
      async () => (left = await toDeliver(stage)) === 0,
      () => left,
    );
  });
}

/** How many messages wait; undefined while the broker does not say. */
async function toDeliver({ stack }: Stage): Promise<number | undefined> {
  const queues = stack.stack.queues.filter((name) => name.startsWith(deliveryQueue('')));
  const depths = await queueDepths({ url: stack.brokerUrl }, queues);
  return depths?.every(({ isKnown }) => isKnown) ? depths.reduce((sum, { messages }) => sum + messages, 0) : undefined;
}

/** While the broker takes nothing from publishers, what needs no publishing goes on. */
export const alarms: Fault[] = Object.entries(faults).map(([name, inject]) => ({
  row: 'L6',
  name,
  bars: { duplicates: HELD, movingAgainSeconds: 60, megabytes: 300 },
  run: underLoad(inject),
}));
