import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import knex from 'knex';
import { DataSource } from 'typeorm';
import { outboxEvent } from './outbox.ts';
import { anEvent } from './testing/an-event.ts';
import { startOutboxStand } from './testing/outbox-stand.ts';
import { shared } from '@waybell/runtime/testing/shared';

const stand = shared(() => startOutboxStand());

beforeAll(async () => {
  await stand.postgres.query('create table orders (note text)');
});

afterEach(async () => {
  await stand.postgres.query('truncate waybell_outbox, orders');
});
/** Guids in the outbox, and how many orders there are. */
const kept = async () => {
  const { rows: events } = await stand.postgres.query<{ guid: string }>('select guid from waybell_outbox order by id');
  const { rows: orders } = await stand.postgres.query('table orders');
  return { guids: events.map(({ guid }) => guid), orders: orders.length };
};
const changedMind = new Error('the caller changed its mind');

type Caller = AsyncDisposable & {
  /** Writes an order and its event in one transaction, which fails at the end or not. */
  order(fails: boolean): Promise<string>;
};

const callers: Record<string, () => Promise<Caller>> = {
  async pg() {
    return {
      async order(fails) {
        const client = await stand.postgres.connect();
        const { guid, text, values } = outboxEvent(anEvent());
        await client.query('begin');
        await client.query("insert into orders values ('new')");
        await client.query(text, values);
        await client.query(fails ? 'rollback' : 'commit');
        client.release();
        return fails ? await Promise.reject(changedMind) : guid;
      },
      async [Symbol.asyncDispose]() {},
    };
  },
  async TypeORM() {
    const dataSource = await new DataSource({ type: 'postgres', url: stand.url }).initialize();
    return {
      order: (fails) =>
        dataSource.transaction(async (manager) => {
          const { guid, text, values } = outboxEvent(anEvent());
          await manager.query("insert into orders values ('new')");
          await manager.query(text, values);
          if (fails) throw changedMind;
          return guid;
        }),
      [Symbol.asyncDispose]: () => dataSource.destroy(),
    };
  },
  async Knex() {
    const database = knex({ client: 'pg', connection: stand.url });
    return {
      order: (fails) =>
        database.transaction(async (transaction) => {
          const { guid, values } = outboxEvent(anEvent());
          await transaction('orders').insert({ note: 'new' });
          await transaction.raw('select waybell_publish(?)', values);
          if (fails) throw changedMind;
          return guid;
        }),
      [Symbol.asyncDispose]: () => database.destroy(),
    };
  },
};

describe.each(Object.entries(callers))('a transaction of %s', (_name, connect) => {
  test('has its event in the outbox with what it changed', async () => {
    await using caller = await connect();
    const guid = await caller.order(false);
    expect(await kept()).toEqual({ guids: [guid], orders: 1 });
  });

  test('leaves no event behind where it fails', async () => {
    await using caller = await connect();
    await expect(caller.order(true)).rejects.toThrow(changedMind);
    expect(await kept()).toEqual({ guids: [], orders: 0 });
  });
});
