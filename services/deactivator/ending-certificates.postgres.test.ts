import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { noticesIn } from './notices.ts';
import { startCertificateNotices } from '@waybell/deactivator/notices';
import { listenerClient } from '@waybell/delivery-log/listener-client';
import { aCarrier } from '@waybell/delivery-log/testing/log-stand';
import { createMetrics } from '@waybell/runtime/metrics';
import { connectPostgres } from '@waybell/runtime/postgres';
import { until } from '@waybell/runtime/testing/until';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { shared } from '@waybell/runtime/testing/shared';
import { silentLog } from '@waybell/runtime/testing/patience';

let account: string;

const store = shared(() => createTestDatabase());
// Uses the service's own role: it may not touch the table itself.
const postgres = shared(() =>
  connectPostgres({ url: store.url, role: 'waybell_deactivator', poolSize: 8, timeoutMs: 60_000, log: silentLog }),
);
beforeAll(async () => {
  account = await aCarrier(store.postgres, 'Example Freight');
});

beforeEach(() => query('delete from waybell.credentials; delete from waybell.notices'));

const query = async (sql: string, values: unknown[] = []) => (await store.postgres.query(sql, values)).rows;

/** Puts in credentials for a host, with a certificate that ends so long from now. */
async function putIn(endsIn: string | null, { client = 'default', host = 'receiver.test' } = {}): Promise<string> {
  const [row] = await query(
    `insert into waybell.credentials (guid, account_guid, client_id, host, kinds, shown, sealed, key_id, certificate_ends_at)
     values ($1, $2, $3, $4, '{certificate}', '{}', '\\x00', 'k', date_trunc('second', now()) + $5::interval)
     on conflict (account_guid, client_id, host) do update
     set guid = excluded.guid, certificate_ends_at = excluded.certificate_ends_at, changed_at = now()
     returning certificate_ends_at`,
    [randomUUID(), account, client, host, endsIn],
  );
  return row.certificate_ends_at?.toISOString();
}

/** Returns the notices that the deactivator would publish now, and marks them as published. */
async function told() {
  await postgres.query(`select waybell.tell_ending_certificates('30 days')`);
  const notices = noticesIn(postgres, { claimMs: 30_000 });
  const claimed = await notices.claim();
  await notices.settle(claimed);
  return claimed;
}

const SUBSCRIPTION_MEMBERS = ['action', 'subscription_guid', 'callback_url', 'delivery_guid', 'since', 'missed'];

describe('of a certificate', () => {
  test('that ends in less than 30 days the platform is told whose it is, for which host, and when; once', async () => {
    const endsAt = await putIn('29 days 23 hours', { host: 'receiver.test:8443' });
    expect(await told()).toEqual([
      {
        ...Object.fromEntries(SUBSCRIPTION_MEMBERS.map((name) => [name, null])),
        guid: expect.any(String),
        kind: 'certificate.ending',
        at: expect.any(String),
        interface: 'carrier',
        account_guid: account,
        account_name: 'Example Freight',
        client_id: 'default',
        reason: null,
        status: null,
        count: null,
        host: 'receiver.test:8443',
        ends_at: endsAt,
      },
    ]);
    expect(await told()).toEqual([]);
  });

  test('that ends later nothing is told, until its time comes', async () => {
    await putIn('30 days 1 hour');
    expect(await told()).toEqual([]);
    await query(`update waybell.credentials set certificate_ends_at = certificate_ends_at - interval '2 hours'`);
    expect(await told()).toHaveLength(1);
  });

  test('that has ended already it is told too', async () => {
    await putIn('-1 day');
    expect(await told()).toHaveLength(1);
  });

  test('that replaced one which ends nothing is told; once its own time comes, again', async () => {
    await putIn('10 days');
    await putIn('365 days');
    expect(await told()).toEqual([]);
    await putIn('20 days');
    expect(await told()).toHaveLength(1);
    const endsAt = await putIn('25 days');
    expect(await told()).toMatchObject([{ ends_at: endsAt }]);
  });

  test('that is put in again beside other headers it is not told again', async () => {
    await putIn('10 days');
    await told();
    await query('update waybell.credentials set guid = gen_random_uuid()');
    expect(await told()).toEqual([]);
  });

  test('of a listener nothing is told, nor of credentials without one', async () => {
    await putIn('1 day', { client: listenerClient('default', '') });
    await putIn(null);
    expect(await told()).toEqual([]);
  });

  test('it is told once by several processes, also of more than are told at a time', async () => {
    await query(
      `insert into waybell.credentials (guid, account_guid, client_id, host, kinds, shown, sealed, key_id, certificate_ends_at)
       select gen_random_uuid(), $1, 'default', 'h' || n || '.test', '{certificate}', '{}', '\\x00', 'k', now()
       from generate_series(1, 2500) n`,
      [account],
    );
    const look = () => postgres.query(`select waybell.tell_ending_certificates('30 days')`);
    for (let round = 0; round < 3; round += 1) await Promise.all(Array.from({ length: 4 }, look));
    const [counts] = await query(
      'select count(*)::int as notices, count(distinct host)::int as hosts from waybell.notices',
    );
    expect(counts).toEqual({ notices: 2500, hosts: 2500 });
  });
});

test('a process that runs tells of them and shows how many there are, by state', async () => {
  for (const [host, endsIn] of Object.entries({ a: '31 days', b: '90 days', c: '3 days', d: '-1 hour' }))
    await putIn(endsIn, { host: `${host}.test` });
  await putIn(null, { host: 'e.test' });
  const metrics = createMetrics('deactivator');
  await using _telling = startCertificateNotices(postgres, { intervalMs: 20, log: silentLog, metrics });
  const shown = await until('it counts them', async () => {
    const lines = (await metrics.metrics()).split('\n').filter((line) => line.startsWith('waybell_receiver_cert'));
    return lines.length === 3 && lines;
  });
  expect(shown.map((line) => line.replace(/.*state="(\w+)".* (\d+)$/, '$1 $2'))).toEqual([
    'valid 2',
    'ending 1',
    'over 1',
  ]);
  expect(await query('select host from waybell.notices order by host')).toEqual([
    { host: 'c.test' },
    { host: 'd.test' },
  ]);
  await putIn('60 days', { host: 'c.test' });
  await until('it counts again', async () =>
    (await metrics.metrics()).includes('state="ending",service="deactivator"} 0'),
  );
});
