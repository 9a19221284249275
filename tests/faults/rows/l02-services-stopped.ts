import { randomUUID } from 'node:crypto';
import { serviceNames } from '@waybell/stack/services';
import { anEvent } from '../../testing/event.ts';
import type { Ledger } from '../../testing/ledger.ts';
import { logOf } from '../../testing/replica.ts';
import type { Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import type { Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

const CUT_AFTER_MS = 500;

/** SIGTERM and a new start, as every deployment does. */
export const servicesStopped: Fault[] = [
  ...serviceNames.map((name): Fault => ({
    row: 'L2',
    name: `${name} restarted`,
    isDaily: true,
    bars: { duplicates: 0, movingAgainSeconds: 15 },
    run: underLoad(({ stack }) => stack.stack.service(name).restart(), {
      releaseTimes: 5,
      check: ({ stack }) => {
        const messages = logOf(stack.stack.service(name).spec).map(({ msg }) => msg);
        const begun = messages.filter((each) => each === 'shutdown.begun').length;
        const ended = messages.filter((each) => each === 'process.stopped').length;
        return begun > 0 && begun === ended ? [] : [`${begun} times asked to stop, ${ended} times stopped in order`];
      },
    }),
  })),
  {
    row: 'L2',
    name: 'a deliverer told to stop sooner than a request ends',
    isDaily: false,
    settings: { SHUTDOWN_GRACE: `${CUT_AFTER_MS}ms`, SHUTDOWN_ALLOW_SHORT: 'true' },
    bars: { duplicates: HELD, movingAgainSeconds: 15 },
    run: underLoad(cutRequest),
  },
];

/** The request that is cut is made again, as the same attempt. */
async function cutRequest({ stack, receiver }: Stage, ledger: Ledger): Promise<string[]> {
  const path = `/cut/${randomUUID()}`;
  // The first request has no answer; the receiver sees it end.
  receiver.answer(path, (response) => void (receiver.at(path).length > 1 && response.writeHead(200).end()));
  const { account, subscribe } = await stack.client('shipper');
  await subscribe('order.paid', receiver.url(path));
  const event = anEvent({ interface: 'shipper', action: 'order.paid', parties: { shipper: account } });
  const sentAt = performance.now();
  await stack.upstream.publish(event);
  ledger.confirmed(event, [await stack.subscriptionAt(receiver.url(path))], sentAt);
  await receiver.untilReceived(path, 1);
  await stack.stack.service('deliverer').restart();
  const attempts = (await receiver.untilReceived(path, 2)).map(({ headers }) => headers['x-webhook-attempt']);
  return attempts.every((attempt) => attempt === '1')
    ? []
    : [`the request that was cut came as ${attempts.join(', ')}`];
}
