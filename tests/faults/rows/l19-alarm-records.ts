import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Ledger } from '../../testing/ledger.ts';
import { subscribed } from '../../testing/subscribers.ts';
import { until } from '@waybell/runtime/testing/until';
import { alarmed } from '../alarmed.ts';
import { untilRouted } from '../backlog.ts';
import type { Course, Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import type { Stage } from '../stage.ts';

/**
 * Enough endpoints that none gets more at once than a new endpoint takes: deliveries without room wait until the alarm is over.
 */
const ENDPOINTS = 60;
const EACH = 5;
const DELIVERIES = ENDPOINTS * EACH;
const TAKES_MS = 20;
/** Many times what a record waits for others before it is kept. */
const RECORDED_MS = 2_000;

type Way = {
  /** Ends the deliverer once so many were delivered. */
  delivered: number;
  end: (stage: Stage) => Promise<unknown>;
  /** Requests may be repeated, and records lost, of what was in hand. */
  mayLose?: true;
};

const kill = ({ stack }: Stage) => stack.stack.service('deliverer').kill();

const ways: Record<string, Way> = {
  'SIGTERM during an alarm, in the midst of deliveries': {
    delivered: DELIVERIES / 2,
    end: ({ stack }) => stack.stack.service('deliverer').stop(),
  },
  'SIGTERM during an alarm, after deliveries': {
    delivered: DELIVERIES,
    end: ({ stack }) => stack.stack.service('deliverer').stop(),
  },
  'kill -9 during an alarm, in the midst of deliveries': { delivered: DELIVERIES / 2, end: kill, mayLose: true },
  'kill -9 during an alarm, after deliveries': {
    delivered: DELIVERIES,
    async end(stage) {
      await sleep(RECORDED_MS);
      await kill(stage);
    },
  },
};

/** Deliveries made while the broker took no records are on record nevertheless. */
export const alarmRecords: Fault[] = Object.entries(ways).map(([name, way]) => ({
  row: 'L19',
  name,
  bars: { duplicates: way.mayLose ? HELD : 0 },
  run: (stage, ledger) => endDuringAlarm(stage, ledger, way),
}));

async function endDuringAlarm(stage: Stage, ledger: Ledger, { delivered, end, mayLose }: Way): Promise<Course> {
  const { stack, receiver } = stage;
  const deliverer = stack.stack.service('deliverer');
  const wanted = { interface: 'shipper', action: 'order.paid', answers: [200], slowMs: TAKES_MS } as const;
  const folder = `/alarmed-${randomUUID()}`;
  const parties = await Promise.all(Array.from({ length: ENDPOINTS }, () => subscribed(stage, { ...wanted, folder })));
  const answered = () =>
    receiver.received.filter((each) => each.path.startsWith(folder) && each.answered === 200).length;
  await deliverer.stop();
  await untilRouted(stage, DELIVERIES, async () => {
    for (let round = 0; round < EACH; round += 1) for (const party of parties) await ledger.publish(party);
  });
  await alarmed(stage, 'memory', async () => {
    await deliverer.start();
    await until(`${delivered} are delivered`, () => answered() >= delivered, answered);
    await end(stage);
  });
  // Its supervisor has started it where it was killed.
  if (deliverer.state === 'stopped') await deliverer.start();
  await ledger.untilSettled();
  return mayLose ? withoutRecords(ledger) : {};
}

/** Requests in hand at the kill were answered, and may have no record. */
function withoutRecords(ledger: Ledger): Course {
  const { lost, ...balance } = ledger.balance();
  const unrecorded = lost.filter(({ why }) => why.endsWith('and nothing came of it'));
  return {
    books: {
      published: ledger.published,
      balance: { ...balance, lost: lost.filter((one) => !unrecorded.includes(one)) },
    },
    notes: [`${unrecorded.length} records lost of what was in hand`],
    problems: unrecorded.length > HELD ? [`${unrecorded.length} records lost, at most ${HELD}`] : [],
  };
}
