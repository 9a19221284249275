import { until } from '@waybell/runtime/testing/until';
import { ask } from '../testing/told.ts';
import { subscribed, type Account } from './stand.ts';

let lastId = 7_000_000;

/** Whether all subscriptions of the client are on. */
export async function isActive(client: Account): Promise<boolean> {
  const { objects } = await ask<{ objects: { is_active: boolean }[] }>(client, '/v1/subscriptions');
  return objects.every((each) => each.is_active);
}

/** A subscription that a delivery given up has switched off, and an event that came since; its receiver refuses. */
export async function switchedOff(carrier: Account, action: string) {
  const { path, subscription } = await subscribed(carrier, action, 500);
  const hear = async (id: number) => (await carrier.hear(action, { payload: { id, status: 'new' } })).guid;
  const given = await hear((lastId += 1));
  await until(`${action} is off`, async () => {
    const { is_active: isOn } = await ask<{ is_active: boolean }>(carrier, `/v1/subscriptions/${subscription}`);
    return !isOn;
  });
  const missed = await hear((lastId += 1));
  await until('the event is suppressed', async () => {
    const { objects } = await ask<{ objects: unknown[] }>(carrier, `/v1/timeline/${lastId}`);
    return objects.length > 0;
  });
  return { path, subscription, given, missed };
}
