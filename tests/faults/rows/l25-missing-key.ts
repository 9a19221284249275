import { randomBytes } from 'node:crypto';
import { until } from '@waybell/runtime/testing/until';
import type { Ledger } from '../../testing/ledger.ts';
import { subscribed } from '../../testing/subscribers.ts';
import type { Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { publishFor } from '../hung-party.ts';
import type { Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

const EVENTS = 20;

/** Deliveries whose secrets need a key that a deliverer lacks wait for that key, and no others do. */
export const missingKey: Fault[] = [
  {
    row: 'L25',
    name: 'a key ring without the old key',
    // A deliverer that waits for a key is not ready, and has no time to stop.
    bars: { duplicates: HELD, movingAgainSeconds: 75 },
    run: underLoad(forgetKey),
  },
];

async function forgetKey(stage: Stage, ledger: Ledger): Promise<string[]> {
  const { stack, receiver } = stage;
  const [api, deliverer] = [stack.stack.service('subscription-api'), stack.stack.service('deliverer')];
  const party = { interface: 'shipper', action: 'order.paid', answers: [200] } as const;
  const locked = await subscribed(stage, { ...party, folder: '/locked' });
  const older = deliverer.spec.env['SECRET_KEYS'] ?? '';
  const newer = `newer:${randomBytes(32).toString('base64')}`;
  api.spec.env['SECRET_KEYS'] = `${newer},${older}`;
  await api.restart();
  const open = await subscribed(stage, { ...party, folder: '/open' });
  await deliverer.stop();
  deliverer.spec.env['SECRET_KEYS'] = newer;
  // It need not become ready: that may be over as soon as it has begun.
  const starting = deliverer.start().catch(() => undefined);
  const id = older.split(':')[0];
  let said: string | undefined;
  await until(
    'the deliverer says for which key it waits',
    async () => (said = await deliverer.spec.waitsFor())?.includes(`key "${id}" of SECRET_KEYS`),
    () => said,
  );
  await publishFor(locked, ledger, EVENTS);
  await publishFor(open, ledger, EVENTS);
  await receiver.untilReceived(open.addresses[0]?.path ?? '', EVENTS);
  const early = receiver.at(locked.addresses[0]?.path ?? '').length;
  await deliverer.stop();
  await starting;
  deliverer.spec.env['SECRET_KEYS'] = `${newer},${older}`;
  await deliverer.start();
  return early === 0 ? [] : [`${early} requests were made without the key`];
}
