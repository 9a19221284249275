import type { Postgres } from '@waybell/runtime/postgres';
import { queryRowsIn } from '../parking/query-rows.ts';

/** A delivery stored while its request is under way. */
export type OpenRequest = {
  id: string;
  /** Guid of the delivery's message. */
  delivery: string;
  /** Milliseconds since the epoch. */
  createdAt: number;
  attempt: number;
  /** `<interface>.<action>` */
  action: string;
  note: string;
  traceparent: string | null;
  body: Buffer;
};

/** All methods reject with `Unavailable` while Postgres is away. */
export type OpenRequestStore = {
  /** Resolves when all are committed. `dueInMs`: when each is attempted again, unless it is removed before. */
  insert(requests: readonly (OpenRequest & { dueInMs: number })[]): Promise<void>;
  /** Postpones requests that are not due yet, to `dueInMs` from now. Resolves with their ids. */
  renew(requests: readonly { id: string; dueInMs: number }[]): Promise<string[]>;
  remove(ids: readonly string[]): Promise<void>;
  /** Makes requests due at once. */
  bringForward(ids: readonly string[]): Promise<void>;
  /**
   * Claims due requests, the longest due first, for `forMs`. Each gets a new id: the process that had it before can neither
   * postpone nor remove it by the old one.
   */
  claim(most: number, forMs: number): Promise<OpenRequest[]>;
};

const INSERT = {
  name: 'keep-open-requests',
  text: `
    insert into waybell.open_requests (id, delivery, created_at, attempt, due_at, action, note, traceparent, body)
    select id, delivery, created_at, attempt, now() + make_interval(secs => due_in_ms / 1000), action, note, traceparent, body
    from unnest($1::uuid[], $2::text[], $3::bigint[], $4::int[], $5::float8[], $6::text[], $7::text[], $8::text[], $9::bytea[])
      as r (id, delivery, created_at, attempt, due_in_ms, action, note, traceparent, body)`,
};

const RENEW = {
  name: 'renew-open-requests',
  text: `
    update waybell.open_requests o set due_at = now() + make_interval(secs => due_in_ms / 1000)
    from unnest($1::uuid[], $2::float8[]) as r (id, due_in_ms)
    where o.id = r.id and due_at > now()
    returning o.id`,
};

const REMOVE = { name: 'remove-open-requests', text: 'delete from waybell.open_requests where id = any ($1::uuid[])' };

const BRING_FORWARD = {
  name: 'bring-open-requests-forward',
  text: 'update waybell.open_requests set due_at = now() where id = any ($1::uuid[])',
};

const CLAIM = {
  name: 'claim-open-requests',
  text: `
    update waybell.open_requests o
    set due_at = now() + make_interval(secs => $2::float8 / 1000), id = gen_random_uuid()
    from (select id from waybell.open_requests where due_at <= now() order by due_at limit $1 for update skip locked) due
    where o.id = due.id
    returning o.id, delivery, created_at::float8 as "createdAt", attempt, action, note, traceparent, body`,
};

/** Needs connections with `PARKING_SETTINGS`: stored requests must survive a crash of Postgres. */
export function openRequestsIn(postgres: Postgres): OpenRequestStore {
  const queryRows = queryRowsIn(postgres);
  return {
    async insert(requests) {
      await queryRows(INSERT, [
        requests.map(({ id }) => id),
        requests.map(({ delivery }) => delivery),
        requests.map(({ createdAt }) => createdAt),
        requests.map(({ attempt }) => attempt),
        requests.map(({ dueInMs }) => dueInMs),
        requests.map(({ action }) => action),
        requests.map(({ note }) => note),
        requests.map(({ traceparent }) => traceparent),
        requests.map(({ body }) => body),
      ]);
    },
    async renew(requests) {
      const ids = requests.map(({ id }) => id);
      const renewed = await queryRows<{ id: string }>(RENEW, [ids, requests.map(({ dueInMs }) => dueInMs)]);
      return renewed.map(({ id }) => id);
    },
    async remove(ids) {
      await queryRows(REMOVE, [ids]);
    },
    async bringForward(ids) {
      if (ids.length > 0) await queryRows(BRING_FORWARD, [ids]);
    },
    claim: (most, forMs) => queryRows<OpenRequest>(CLAIM, [most, forMs]),
  };
}
