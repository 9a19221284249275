import type pg from 'pg';
import { joinDeliveries } from '@waybell/line/delivery-batch';
import type { CommandPublisher } from '@waybell/line/operating/command-publisher';
import type { Publication } from '@waybell/line/messages';
import { fromParked } from './from-parked.ts';
import {
  BEFORE_ALL,
  chosen,
  deleteRows,
  takeRows,
  type ParkedSelection,
  type Chosen,
  type ParkedRowCursor,
} from './parked-rows.ts';

export type Released = { deliveries: number; records: number };

type Release = {
  postgres: pg.Pool;
  line: Pick<CommandPublisher, 'publish'>;
  choice: ParkedSelection;
  /** How many deliveries have gone until now, now and then. */
  onMoved?: (deliveries: number) => void;
};

const SAID_EVERY = 10_000;

/**
 * Moves parked deliveries into the queues of their actions, a few at a time: they are published, and deleted once the broker
 * has them. Throws, with what it moved until then done, where a deliverer lives that takes care of them.
 */
export async function releaseParked({ postgres, line, choice, onMoved }: Release): Promise<Released> {
  const released = { deliveries: 0, records: 0 };
  const client = await postgres.connect();
  try {
    let said = 0;
    for (const subscription of await chosen(client, choice)) {
      let place: ParkedRowCursor | undefined = BEFORE_ALL;
      do {
        place = await releaseSome({ client, line, subscription, after: place, released });
        if (released.deliveries >= said + SAID_EVERY) onMoved?.((said = released.deliveries));
      } while (place !== undefined);
    }
    return released;
  } finally {
    // With what it has not committed.
    client.release(true);
  }
}

type Some = Pick<Release, 'line'> & {
  client: pg.PoolClient;
  subscription: Chosen;
  after: ParkedRowCursor;
  released: Released;
};

/** Resolves with the place of the last one; undefined after the last of all. Deliverers wait until it is done. */
async function releaseSome({
  client,
  line,
  subscription,
  after,
  released,
}: Some): Promise<ParkedRowCursor | undefined> {
  await client.query('begin');
  await refuseWhileOwned(client, subscription, released);
  const rows = await takeRows(client, subscription, after);
  const batches = joinDeliveries(rows.map((row) => ({ publication: fromParked(row, Date.now()) })));
  await Promise.all(batches.map(({ publication }) => publishOn(line, publication)));
  await deleteRows(client, { subscription, rows });
  await client.query('commit');
  const forgotten = rows.filter(({ body }) => body === null).length;
  released.records += forgotten;
  released.deliveries += rows.length - forgotten;
  return rows.at(-1);
}

/** Holds the leases as they are until the transaction ends: a deliverer that starts then takes them afterwards. */
async function refuseWhileOwned(client: pg.PoolClient, { account }: Chosen, { deliveries }: Released): Promise<void> {
  const { rows } = await client.query<{ is_owned: boolean }>(
    `select coalesce(leased_until > clock_timestamp(), false) as is_owned from waybell.parked_shards
     where $1::uuid is null or shard = waybell.shard_of($1) order by shard for share`,
    [account],
  );
  if (!rows.some(({ is_owned }) => is_owned)) return;
  throw new Error(
    `${deliveries} deliveries were moved; a deliverer lives that takes care of the others. Stop all deliverers (one that was killed counts for 20 s more), then run it again`,
  );
}

async function publishOn(line: Release['line'], publication: Publication): Promise<void> {
  if ((await line.publish(publication)) === 'confirmed') return;
  const { exchange, routingKey } = publication;
  throw new Error(
    `no queue takes ${exchange} ${routingKey}: create the line with all its actions ("./waybell declare"), then run it again`,
  );
}
