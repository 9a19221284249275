import { serviceNames } from '@waybell/stack/services';
import type { Ledger } from '../../testing/ledger.ts';
import { subscribed } from '../../testing/subscribers.ts';
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
    gates: name === 'deliverer',
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
    settings: { SHUTDOWN_GRACE: `${CUT_AFTER_MS}ms`, SHUTDOWN_ALLOW_SHORT: 'true' },
    bars: { duplicates: HELD, movingAgainSeconds: 15 },
    run: underLoad(cutRequest),
  },
];

/** The request that is cut is made again, as the same attempt. */
async function cutRequest(stage: Stage, ledger: Ledger): Promise<void> {
  const { stack, receiver } = stage;
  const cut = { interface: 'shipper', action: 'order.paid', folder: '/cut', answers: [200] } as const;
  const party = await subscribed(stage, cut);
  const path = party.addresses[0]?.path ?? '';
  // The first request has no answer; the receiver sees it end.
  receiver.answer(path, (response) => void (receiver.at(path).length > 1 && response.writeHead(200).end()));
  await ledger.publish(party);
  await receiver.untilReceived(path, 1);
  await stack.stack.service('deliverer').restart();
}
