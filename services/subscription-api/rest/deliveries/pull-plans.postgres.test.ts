import { expect, test } from '@jest/globals';
import { OLDEST } from '@waybell/delivery-log/read/commits';
import { endedDeliveries } from '@waybell/delivery-log/read/ends';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { aDelivered } from '@waybell/delivery-log/testing/log-stand';
import { PullStand } from '../../testing/pull-stand.ts';
import { watchPlans } from '@waybell/runtime/testing/watch-plans';
import { shared } from '@waybell/runtime/testing/shared';

const OTHERS = 20_000;
const OF_A_COMMIT = 100;

const stand = shared(() => PullStand.start());
/** Ends of another's within the last ten minutes, as many to each of its commits. */
async function ofAnother(subscription: string): Promise<void> {
  const at = `now() - interval '10 minutes' * n / ${OTHERS}`;
  await stand.log.partitions.ensure([wallClockMs() - 600_000]);
  await stand.log.rows(
    `insert into delivery_log.attempts (at, delivery, attempt, kind, event, subscription, chunk)
     select ${at}, gen_random_uuid(), 1, 'delivered', gen_random_uuid(), $1, n / ${OF_A_COMMIT} from generate_series(1, ${OTHERS}) n`,
    [subscription],
  );
  await stand.log.rows(
    `insert into delivery_log.commits (number, at, chunk, first_at, last_at)
     select nextval('delivery_log.commit_numbers'), max(at), chunk, min(at), max(at) from delivery_log.attempts
     where subscription = $1 group by chunk order by max(at)`,
    [subscription],
  );
  for (const table of ['attempts', 'commits']) await stand.log.rows(`vacuum analyze delivery_log.${table}`);
}

test("a page reads by indexes what is the client's, however much there is of others", async () => {
  const [us, other] = [await stand.someone(), await stand.someone()];
  const first = await stand.delivered(us, [aDelivered()]);
  await ofAnother(other.subscription);
  const last = await stand.delivered(us, [aDelivered()]);
  const watched = watchPlans(stand.api.store.postgres);
  const reader = { account: us.account, client: us.client, interface: 'carrier' as const };
  const query = { reader, filter: {}, after: OLDEST, withBodies: true };
  const page = await endedDeliveries(watched, { ...query, limit: 200 });
  expect(page).toMatchObject({ entries: [{ delivery: first }, { delivery: last }], more: false });
  expect(watched.rowsLookedAt()).toBeLessThan(10 * (OTHERS / OF_A_COMMIT));
});

test('a page of a client with very many reads a few commits of them', async () => {
  const other = await stand.someone();
  await ofAnother(other.subscription);
  const watched = watchPlans(stand.api.store.postgres);
  const reader = { account: other.account, client: other.client, interface: 'carrier' as const };
  const [{ number } = { number: 0 }] = await stand.log.rows<{ number: number }>(
    `select min(number)::int - 1 as number from delivery_log.commits join delivery_log.attempts a using (chunk) where a.subscription = $1`,
    [other.subscription],
  );
  const query = { reader, filter: {}, after: { number }, withBodies: true, limit: 200 };
  expect((await endedDeliveries(watched, query)).entries).toHaveLength(200);
  expect(watched.rowsLookedAt()).toBeLessThan(OTHERS / 2);
});
