import { queueDepths } from '@waybell/stack/queue-depths';
import { deliveryQueue, waitingQueue } from '@waybell/line/topology';
import type { Ledger } from '../../testing/ledger.ts';
import { Load } from '../../testing/load.ts';
import { waitingOf } from '../../testing/put-by-hand.ts';
import { subscribed } from '../../testing/subscribers.ts';
import { until } from '@waybell/runtime/testing/until';
import type { Fault } from '../fault.ts';
import { freeze } from '../freeze.ts';
import { HELD, shippedDatabaseTimeout } from '../fault-settings.ts';
import { hungParty } from '../hung-party.ts';
import type { Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

/** More than an endpoint that takes its time gets, with all slots. */
const EVENTS_PER_SECOND = 200;
const TAKES_MS = 500;
/** Enough that success is no coincidence. */
const WAITING = 50;

/** Deliveries that cannot wait in Postgres wait in the broker, and only those in hand are sent again. */
export const cannotPut: Fault[] = [
  {
    row: 'L4',
    name: 'Postgres stopped while deliveries are to wait',
    // Less than what an endpoint takes: a delivery that finds no room at once is put into its endpoint\'s room.
    settings: { ...shippedDatabaseTimeout, DELIVER_PATIENCE: `${TAKES_MS / 2}ms` },
    bars: { duplicates: HELD, movingAgainSeconds: 75 },
    run: underLoad(stopWhileItPuts),
  },
];

async function stopWhileItPuts(stage: Stage, ledger: Ledger): Promise<void> {
  const { stack, scale } = stage;
  const party = { interface: 'shipper', action: 'order.booked' } as const;
  const slow = await subscribed(stage, { ...party, folder: '/slow', answers: [200], slowMs: TAKES_MS });
  const hung = scale === 'release' ? [await hungParty(stage, ledger, { ...party, folder: '/hung' })] : [];
  using load = new Load({ ledger, parties: [slow, ...hung], eventsPerSecond: EVENTS_PER_SECOND });
  for (const { addresses } of [slow, ...hung]) {
    await until('some wait', async () => (await waitingOf(stack.postgres, addresses[0]?.subscription ?? '')) > 0);
  }
  const postgres = stack.stack.servers.process('postgres');
  await withBacklog(stage, deliveryQueue('shipper.order.booked'), () => postgres.stop());
  await untilMessages(stage, waitingQueue);
  await load.stop();
  await postgres.start();
  for (const each of hung) each.answer(200);
}

/** Without Postgres the router takes no event: by then more is to be routed than the deliverer has slots for. */
async function withBacklog(stage: Stage, queue: string, act: () => Promise<void>): Promise<void> {
  const goOn = freeze(stage.stack.stack.service('deliverer'));
  try {
    await untilMessages(stage, queue);
    await act();
  } finally {
    goOn();
  }
}

async function untilMessages({ stack }: Stage, queue: string): Promise<void> {
  await until(`${WAITING} messages wait in ${queue}`, async () => {
    const [depth] = (await queueDepths({ url: stack.brokerUrl }, [queue])) ?? [];
    return depth !== undefined && depth.messages >= WAITING;
  });
}
