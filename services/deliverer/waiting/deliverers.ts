import { CLAIM_MS } from '@waybell/line/waiting-room/waiting-store';
import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';

/** The deliverers that live. Both reject with `Unavailable` while Postgres is away. */
export type Deliverers = {
  /** Registers this deliverer as alive. Resolves with how many deliver some of its actions, itself included. */
  live(): Promise<number>;
  leave(): Promise<void>;
};

const LIVE = {
  name: 'live-as-deliverer',
  text: `
    with seen as (
      insert into waybell.deliverers (id, seen_at, actions) values ($1, now(), $2)
      on conflict (id) do update set seen_at = excluded.seen_at
    ), gone as (
      delete from waybell.deliverers where id in (
        select id from waybell.deliverers where id <> $1 and seen_at < now() - $3 * interval '1 ms' for update skip locked)
    )
    select 1 + count(*)::int as living from waybell.deliverers
    where id <> $1 and seen_at >= now() - $3 * interval '1 ms' and actions && $2`,
};

const LEAVE = { name: 'leave-deliverers', text: 'delete from waybell.deliverers where id = $1' };

/** `id`: of this process. `actions`: those that it delivers. */
export function deliverersIn(
  postgres: Postgres,
  { id, actions }: { id: string; actions: readonly string[] },
): Deliverers {
  return {
    async live() {
      const values = [id, actions, CLAIM_MS];
      const { rows } = await whenAvailable(postgres, () => postgres.query<{ living: number }>({ ...LIVE, values }));
      return rows[0]?.living ?? 1;
    },
    async leave() {
      await whenAvailable(postgres, () => postgres.query({ ...LEAVE, values: [id] }));
    },
  };
}

/** `known`: how many deliver some of the actions of this process, itself included. */
export function watchDeliverers(known: { readonly deliverers: number }, metrics: Metrics): void {
  const help =
    'Deliverers that take some of the actions of this one, itself included: they divide the limits of endpoints';
  gaugeOnDemand(metrics, { name: 'waybell_deliverers', help }, () => [{ value: known.deliverers }]);
}
