import { randomUUID } from 'node:crypto';
import type { Delivered, Routed } from '@waybell/line/outcomes';
import { messageGuid } from '@waybell/notifications/notification';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { aDelivered, aRouted, LogStand } from '@waybell/delivery-log/testing/log-stand';
import { stack, type Account } from './stand.ts';

type Delivery = { carrier: Account; subscription: string; action: string; at: number; order?: string };

/** The delivery log of the stand, to write into what would take hours, or the whole line, to happen. */
export async function openLog(): Promise<LogStand> {
  const log = LogStand.on({
    url: stack.stack.servers.url('postgres'),
    name: 'the log of the stand',
    postgres: stack.postgres,
    [Symbol.asyncDispose]: async () => undefined,
  });
  log.now = wallClockMs();
  return log;
}

/** The records of an event that was delivered at once. */
export function aDeliveredEvent({ carrier, subscription, action, at, order }: Delivery): [Routed, Delivered] {
  const event = randomUUID();
  const delivery = messageGuid(event, subscription);
  const what = { event, action, at } as const;
  const keys = order === undefined ? [] : [{ kind: 'order_id', key: order } as const];
  const deliveries = [{ delivery, subscription, account: carrier.account, client: 'default' }];
  const answer = { durationMs: 38, status: 200 };
  return [
    aRouted({ ...what, keys, receivers: [carrier.account], deliveries }),
    aDelivered({ ...what, delivery, subscription, at: at + 60, beganAt: at + 20, answer }),
  ];
}
