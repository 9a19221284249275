import { randomUUID } from 'node:crypto';
import { wait, type Delivery, type EndpointRoom } from '../../delivery.ts';
import { waitingIn } from '../postgres-waiting-store.ts';
import type { RowKey } from '../waiting-store.ts';
import type { WaitingPostgres } from '../waiting-connection.ts';
import { outboxIn } from '../../outbox/postgres-outbox.ts';
import { subscribe } from '@waybell/runtime/testing/subscribe';

const START = Date.parse('2026-11-20T09:30:00Z');

export const aDelivery = (what: Partial<Delivery> & Pick<Delivery, 'subscription'>): Delivery => ({
  guid: randomUUID(),
  interface: 'carrier',
  action: 'order.created',
  generation: 3,
  event: randomUUID(),
  attempt: 1,
  createdAt: START,
  beganAt: START + 1,
  body: Buffer.from('{"name":"Jane Doe"}'),
  ...what,
});

/** A subscription of a client of its own, named by its guid, of an account of its own or of this one; resolves with its guid. */
export function subscribeTo(
  postgres: Pick<WaitingPostgres, 'query'>,
  callbackUrl: string,
  account: string = randomUUID(),
): Promise<string> {
  const guid = randomUUID();
  return subscribe(postgres, { guid, account, client: guid, callbackUrl });
}

/**
 * Has a delivery wait as a deliverer would, five seconds after it was made; where it hangs, its endpoint is shut. Resolves with its key.
 */
export async function putDelivery(
  postgres: WaitingPostgres,
  delivery: Delivery,
  how: Parameters<typeof wait>[1] = { why: 'hung' },
): Promise<RowKey> {
  const { rows } = await postgres.query<EndpointRoom>(
    `select encode(uuid_send(waybell.room_of(account_guid, callback_url)), 'hex') as room, account_guid as account
     from waybell.subscriptions where guid = $1`,
    [delivery.subscription],
  );
  const [room] = rows;
  if (room === undefined) throw new Error(`no subscription ${delivery.subscription}`);
  const { row } = wait({ ...delivery, room }, how);
  const store = waitingIn(postgres, { process: randomUUID() });
  await store.put([row]);
  await store.flushSums();
  await postgres.query('update waybell.deliverer_waiting set put_at = $3 where room = $1 and id = $2', [
    row.room,
    row.id,
    new Date(delivery.createdAt + 5_000),
  ]);
  if (how.why === 'hung')
    await postgres.query('update waybell.deliverer_rooms set shut_since = now() where room = $1', [row.room]);
  return row;
}

/** Has so many publications wait for a destination, the first of them put a millisecond after the start; not due before a while. */
export async function putPublications(
  postgres: WaitingPostgres,
  service: 'deliverer' | 'router',
  destination: string,
  count: number,
  afterMs = 0,
): Promise<void> {
  const [exchange = '', routingKey = ''] = destination.split(' ');
  const publication = { kind: 'publish', exchange, routingKey, body: Buffer.from('{}') } as const;
  const rows = Array.from({ length: count }, () => ({ id: randomUUID(), destination, publication, afterMs }));
  await outboxIn(postgres, service).put(rows);
  for (const [place, { id }] of rows.entries()) {
    const putAt = new Date(START + 1 + place);
    await postgres.query(`update waybell.${service}_outbox set put_at = $2 where id = $1`, [id, putAt]);
  }
}
