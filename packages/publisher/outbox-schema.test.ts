import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import pg from 'pg';
import { outboxEvent, readOutboxFigures } from './outbox.ts';
import { outboxMigration } from './outbox-migration.ts';
import { createPublisher } from './publisher.ts';
import { createRelay } from './relay.ts';
import { anEvent } from './testing/an-event.ts';
import { startOutboxStand, type OutboxStand } from './testing/outbox-stand.ts';

/** A name that is wrong SQL wherever it is not quoted. */
const schema = `the "owner's" 100%`;
const QUOTED = `"the ""owner's"" 100%"`;
let stand: OutboxStand;
let client: pg.Client;

beforeAll(async () => {
  stand = await startOutboxStand();
  client = new pg.Client({ connectionString: stand.url });
  await client.connect();
  await client.query(`create schema ${QUOTED}; set search_path = ${QUOTED}`);
  await client.query(outboxMigration);
});
afterAll(async () => {
  await client.end();
  await stand[Symbol.asyncDispose]();
});

describe('an outbox in a schema of its own', () => {
  test('gets what its function is given, whatever the search path of who calls it, and is emptied by a relay of that schema', async () => {
    const { guid, values } = outboxEvent(anEvent());
    await client.query('set search_path = public; create temporary table waybell_outbox (like public.waybell_outbox)');
    await client.query(`select ${QUOTED}.waybell_publish($1)`, values);
    expect(await readOutboxFigures(stand.postgres, { schema })).toMatchObject({ waiting: 1 });
    expect(await readOutboxFigures(stand.postgres)).toMatchObject({ waiting: 0 });
    const publisher = createPublisher({ url: stand.broker.url });
    const relay = createRelay({ pool: stand.postgres, publisher, schema });
    const [body = ''] = await stand.broker.takeBodies(stand.queue, 1);
    expect(JSON.parse(body)).toMatchObject({ guid });
    // It sleeps as well, and is notified.
    const slept = `select 1 from pg_locks where locktype = 'advisory' and mode = 'ExclusiveLock' and granted
      and database = (select oid from pg_database where datname = current_database())`;
    await until('it sleeps', async () => (await stand.postgres.query(slept)).rows.length > 0);
    await relay.close();
    await publisher.close();
  });
});
