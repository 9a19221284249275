import { describe, expect, test } from '@jest/globals';
import { oldestUndelivered } from './failing.ts';
import { findDeliveries } from '@waybell/delivery-log/read/find-deliveries';
import { deliveryHistory, timelineOf } from '@waybell/delivery-log/read/history';
import { latestOf } from './rest/live/latest-entries.ts';
import { findMissed } from './by-hand/missed.ts';
import { createAccount } from './accounts.ts';
import { aDelivered, aFailed, anExhausted, DAY_MS, LogStand, START } from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const MIDNIGHT = START - (START % DAY_MS);

const stand = shared(() => LogStand.start());
/** How far the clock of the deliverer is off, and when the delivery was made. */
const OFF: [what: string, offMs: number, at: number][] = [
  ['ten minutes behind', -10 * MINUTE_MS, START],
  ['hours behind', -5 * HOUR_MS, START],
  ['a moment behind, over midnight', -2 * MINUTE_MS, MIDNIGHT + MINUTE_MS],
  ['a day and more behind', -3 * DAY_MS, START],
  ['so far behind that it lies in the oldest day that is kept', -29 * DAY_MS, START - DAY_MS],
  ['hours ahead', 5 * HOUR_MS, START],
  ['a day and more ahead', 2 * DAY_MS, START - 3 * DAY_MS],
];

async function aClient() {
  const { guid } = await createAccount(stand.store.postgres, { interface: 'carrier' });
  const subscription = await stand.subscribe(guid, 'order.created');
  const reader = { account: guid, client: 'default', interface: 'carrier' as const };
  return { reader, of: { account: guid, subscription } };
}

describe.each(OFF)('attempts by a clock that is %s', (_, offMs, at) => {
  test('are found, whichever question is asked', async () => {
    const { reader, of } = await aClient();
    const { postgres } = stand.store;
    const attempts = [aFailed({ at: at + offMs + 20 }), anExhausted({ at: at + offMs + 1_000, attempt: 2 })];
    const { delivery, subject } = await stand.log(attempts, { ...of, at });
    const told = { status: 'exhausted', attempts: [{ attempt: 1 }, { attempt: 2 }] };
    expect(await deliveryHistory(postgres, { delivery }, 'operator')).toMatchObject(told);
    const { entries } = await timelineOf(postgres, { about: { key: subject }, reader, limit: 10 });
    expect(entries).toMatchObject([{ verdicts: [{ delivery: told }] }]);
    for (const filter of [{}, { statuses: ['exhausted' as const] }, { about: { key: subject } }]) {
      const page = await findDeliveries(postgres, { reader, filter, limit: 10 });
      expect(page).toMatchObject({ entries: [told] });
    }
    const fromMs = at + offMs - MINUTE_MS;
    const query = { reader, actions: ['order.created'], fromMs, isKnown: () => false };
    const [live] = await latestOf(postgres, [query], 10);
    expect(live?.keys.map(({ entries: each }) => each)).toMatchObject([[{ delivery }], [{ delivery }]]);
  });

  test('are found beside those by a clock that is right', async () => {
    const { of } = await aClient();
    const attempts = [aFailed({ at: at + offMs }), aDelivered({ at: at + 1_000, attempt: 2 })];
    const { delivery } = await stand.log(attempts, { ...of, at });
    expect(await deliveryHistory(stand.store.postgres, { delivery }, 'operator')).toMatchObject({
      status: 'delivered',
      attempts: [{ attempt: 1 }, { attempt: 2 }],
    });
  });
});

describe('a delivery whose attempts were made by clocks that differ', () => {
  test('stands as the last attempt by number says, not by time', async () => {
    const { reader, of } = await aClient();
    const { delivery } = await stand.log(
      [aFailed({ at: START + 40_000 }), anExhausted({ at: START + 2_000, attempt: 2 })],
      of,
    );
    expect(await deliveryHistory(stand.store.postgres, { delivery }, reader)).toMatchObject({ status: 'exhausted' });
    const filter = { statuses: ['exhausted' as const] };
    const page = await findDeliveries(stand.store.postgres, { reader, filter, limit: 10 });
    expect(page.entries).toHaveLength(1);
    const missed = await findMissed(stand.store.postgres, {
      client: reader,
      actions: ['order.created'],
      sinceMs: START,
      untilMs: START + HOUR_MS,
      includesSuppressed: false,
      limit: 10,
    });
    expect(missed).toMatchObject([{ delivery }]);
  });

  test('is none of those without an end, where its end lies hours before it', async () => {
    const { of } = await aClient();
    await stand.log([anExhausted({ at: START - 3 * HOUR_MS })], of);
    const asked = { sinceMs: START - HOUR_MS, account: of.account, limit: 10 };
    expect(await oldestUndelivered(stand.store.postgres, asked)).toEqual([]);
  });
});
