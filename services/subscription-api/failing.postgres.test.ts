import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { failingOrigins, oldestUndelivered } from './failing.ts';
import { aDelivered, aFailed, anExhausted, aRouted, LogStand, START } from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';

const stand = shared(() => LogStand.start());
describe('what fails', () => {
  test('is told by account and origin, with the oldest that have no end', async () => {
    const account = randomUUID();
    const answer = { durationMs: 1, status: 500, reason: 'http_5xx' as const, url: 'https://a.test/hook?key=***' };
    await stand.log([aFailed({ answer }), anExhausted({ answer, attempt: 2, at: START + 9 })], { account });
    await stand.log([aDelivered({ answer: { durationMs: 1, status: 200, url: 'https://a.test/other' } })], { account });
    const elsewhere = aFailed({ answer: { ...answer, url: 'https://b.test:8443/' } });
    const { delivery } = await stand.log([elsewhere], { account });
    const asked = { sinceMs: START - 1, account, limit: 10 };
    expect(await failingOrigins(stand.store.postgres, asked)).toEqual([
      { account, origin: 'https://a.test', failed: 2, attempts: 3, reason: 'http_5xx' },
      { account, origin: 'https://b.test:8443', failed: 1, attempts: 1, reason: 'http_5xx' },
    ]);
    expect(await oldestUndelivered(stand.store.postgres, asked)).toMatchObject([{ delivery, attempts: 1 }]);
  });

  test('lists as many without an end as are asked for, though one event caused several', async () => {
    const account = randomUUID();
    const caused = (count: number) => Array.from({ length: count }, () => ({ subscription: randomUUID(), account }));
    for (const [place, count] of [1, 3].entries())
      await stand.write([aRouted({ at: START + place, receivers: [account], deliveries: caused(count) })]);
    expect(await oldestUndelivered(stand.store.postgres, { sinceMs: START - 1, account, limit: 3 })).toHaveLength(3);
  });

  test('is no test by hand, whatever becomes of it', async () => {
    const account = randomUUID();
    await stand.log([anExhausted({ byHand: 'test' })], { account });
    const { delivery, event, subscription } = await stand.log([], { account });
    const asked = { sinceMs: START - 1, account, limit: 10 };
    expect(await oldestUndelivered(stand.store.postgres, asked)).toMatchObject([{ delivery }]);
    await stand.rows(
      `insert into delivery_log.sendings (guid, why, delivery, event, interface, action, account, client, subscription,
         generation, from_attempt, requested_by, due_at, published_at)
       values (gen_random_uuid(), 'test', $1, $2, 'carrier', 'order.created', $3, 'default', $4, 1, 1, 'a test', now(), now())`,
      [delivery, event, account, subscription],
    );
    expect(await oldestUndelivered(stand.store.postgres, asked)).toEqual([]);
    expect(await failingOrigins(stand.store.postgres, asked)).toEqual([]);
  });
});
