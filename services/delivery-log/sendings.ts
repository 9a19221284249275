import type { InterfaceName, ByHand } from '@waybell/line/outcomes';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';

/** A delivery that an operator or API client requested by hand. */
export type ManualSending = {
  guid: string;
  why: ByHand;
  delivery: string;
  event: string;
  interface: InterfaceName;
  action: string;
  account: string;
  client: string;
  subscription: string;
  generation: number;
  fromAttempt: number;
  /** A test with retries. */
  isRetried: boolean;
  /** Milliseconds since the epoch. */
  dueAt: number;
  /** Null if the log no longer has it, or if it is to be made from the event. */
  body: string | null;
  /** The event to make the body from, if no body was ever made; null if it is no longer kept. */
  kept: KeptForSending | null;
};

export type KeptForSending = { body: string; contentType: string | null; auditFieldSet: string[] | null };

export type Sendings = {
  claimMs: number;
  /** Claims some due sendings; no other process can claim them until the claim runs out. */
  claim(): Promise<ManualSending[]>;
  /** Marks sendings as published; without a body there was nothing to publish. */
  settle(sendings: readonly ManualSending[]): Promise<void>;
  /** Deletes sendings that were published at least this long ago. */
  forget(olderThanMs: number): Promise<void>;
};

// Each has a body of up to 1 MiB.
const AT_ONCE = 16;

const CLAIM = {
  name: 'claim-sendings',
  text: `
    with due as (
      select guid from delivery_log.sendings
      where published_at is null and due_at <= now() and (claimed_until is null or claimed_until < now())
      order by due_at limit ${AT_ONCE} for update skip locked
    )
    update delivery_log.sendings s set claimed_until = now() + $1 * interval '1 millisecond' from due where s.guid = due.guid
    returning s.guid, s.why, s.delivery, s.event, s.interface, s.action, s.account, s.client, s.subscription, s.generation,
      s.from_attempt as "fromAttempt", s.is_retried as "isRetried", round(extract(epoch from s.due_at) * 1000)::float8 as "dueAt",
      coalesce(s.body, (select b.body from delivery_log.bodies b where b.delivery = s.delivery order by b.at desc limit 1)) as body,
      (select json_build_object('body', k.body, 'contentType', k.content_type, 'auditFieldSet', s.audit_field_set)
       from delivery_log.kept_events k where (k.account, k.action, k.at, k.event) = (s.account, s.action, s.kept_at, s.event)) as kept`,
};

export function sendingsIn(postgres: Postgres, { claimMs }: { claimMs: number }): Sendings {
  return {
    claimMs,
    async claim() {
      const { rows } = await whenAvailable(postgres, () =>
        postgres.query<ManualSending>({ ...CLAIM, values: [claimMs] }),
      );
      return rows;
    },
    async settle(sendings) {
      await whenAvailable(postgres, () =>
        postgres.query(
          `update delivery_log.sendings s set published_at = now(), body = null, is_void = done.is_void
           from unnest($1::uuid[], $2::boolean[]) as done (guid, is_void) where s.guid = done.guid`,
          [sendings.map(({ guid }) => guid), sendings.map(({ body }) => body === null)],
        ),
      );
    },
    async forget(olderThanMs) {
      await postgres.query(
        `with gone as (
           delete from delivery_log.sendings where published_at < now() - $1 * interval '1 millisecond'
         )
         delete from delivery_log.replays r where requested_at < now() - $1 * interval '1 millisecond'
           and not exists (select from delivery_log.sendings s where s.replay = r.guid)`,
        [olderThanMs],
      );
    },
  };
}
