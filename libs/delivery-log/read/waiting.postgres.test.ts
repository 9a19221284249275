import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { forget } from '../forget.ts';
import { deliveryHistory } from './history.ts';
import { aDelivered, aFailed, anExhausted, LogStand, START } from '../testing/log-stand.ts';
import { aDelivery, putDelivery, subscribeTo } from '@waybell/line/waiting-room/testing/waiting-deliveries';
import { watchPlans } from '@waybell/runtime/testing/watch-plans';
import { shared } from '@waybell/runtime/testing/shared';

const stand = shared(() => LogStand.start());
const tables = () => stand.store.postgres;
const whatIsTold = (delivery: string) => deliveryHistory(tables(), { delivery }, 'operator');

describe('the history of a delivery', () => {
  test('says that it waits, since when and why', async () => {
    const { delivery } = await stand.logWaiting([aFailed()]);
    const entry = await whatIsTold(delivery);
    expect(entry).toMatchObject({ status: 'retrying', waiting: { since: START + 5_000, why: 'hung' } });
  });

  test('says so of one that was asked for by hand, which waits by the time when that was', async () => {
    const account = randomUUID();
    const subscription = await subscribeTo(tables(), 'https://a.test/hook', account);
    const { delivery, event } = await stand.log([anExhausted()], { account, subscription });
    const dueAt = START + 60_000;
    await stand.rows(
      `insert into delivery_log.sendings (guid, why, delivery, event, interface, action, account, client, subscription,
         generation, from_attempt, requested_by, due_at, published_at)
       values ($1, 'resend', $2, $3, 'carrier', 'order.created', $4, 'default', $5, 1, 2, 'me', to_timestamp($6::float8 / 1000), now())`,
      [randomUUID(), delivery, event, account, subscription, dueAt],
    );
    await putDelivery(tables(), aDelivery({ guid: delivery, subscription, createdAt: dueAt, attempt: 2 }), {
      why: 'full',
    });
    expect(await whatIsTold(delivery)).toMatchObject({ waiting: { since: dueAt + 5_000, why: 'full' } });
  });

  test('says nothing of the kind of one that does not, or that was delivered after all', async () => {
    const { delivery } = await stand.logLately([]);
    expect(await whatIsTold(delivery)).not.toHaveProperty('waiting');
    // The row is about to be deleted.
    const arrived = await stand.logWaiting([aDelivered()]);
    expect(await whatIsTold(arrived.delivery)).not.toHaveProperty('waiting');
  });

  test('says that a request is under way, where it has waited for long enough', async () => {
    const { delivery, waiting } = await stand.logWaiting([aFailed()]);
    await putDelivery(tables(), waiting, { why: 'open', afterMs: 90_000 });
    expect(await whatIsTold(delivery)).toMatchObject({ status: 'retrying', waiting: { why: 'open' } });
  });

  test('says so of one whose subscription is held, which waits in a room of that', async () => {
    const { delivery, subscription, subject } = await stand.logWaiting([aFailed()]);
    await stand.rows(
      `with made as (insert into waybell.deliverer_rooms (room, account) select guid, account_guid from waybell.subscriptions where guid = $1)
       update waybell.deliverer_waiting set room = subscription, why = 'paused', due_at = now() + interval '1 hour' where subscription = $1`,
      [subscription],
    );
    const entry = await whatIsTold(delivery);
    expect(entry).toMatchObject({ status: 'retrying', waiting: { since: START + 5_000, why: 'paused' } });
    expect(await forget(tables(), { key: subject })).toMatchObject({ waiting: 1 });
    expect(
      await stand.rows('select due_at from waybell.deliverer_waiting where subscription = $1', [subscription]),
    ).toEqual([{ due_at: null }]);
  });

  test('tells the last of its attempts that waits', async () => {
    const { delivery, subscription } = await stand.logWaiting([aFailed()]);
    for (const [attempt, why] of [
      [1, 'full'],
      [10, 'busy'],
    ] as const)
      await putDelivery(tables(), aDelivery({ guid: delivery, subscription, attempt }), { why });
    expect(await whatIsTold(delivery)).toMatchObject({ waiting: { why: 'busy' } });
  });

  test('is found by a look at a few rows, though tens of thousands wait for the same endpoint', async () => {
    const { delivery, event, subscription } = await stand.logWaiting();
    await stand.rows(
      `insert into waybell.deliverer_waiting (room, made_at, id, subscription, why, properties)
       select waybell.room_of(account_guid, callback_url), $2::bigint + n / 100, gen_random_uuid() || ' 1', guid, 'hung', '{}'
       from waybell.subscriptions, generate_series(1, 50000) n where guid = $1`,
      [subscription, START - 250],
    );
    await stand.rows('analyze waybell.deliverer_waiting');
    const plans = watchPlans(tables());
    expect(await deliveryHistory(plans, { delivery, event }, 'operator')).toHaveProperty('waiting');
    expect(plans.rowsLookedAt()).toBeLessThan(200);
    await stand.rows('delete from waybell.deliverer_waiting where subscription = $1', [subscription]);
  });
});
