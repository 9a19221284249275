import { ms } from '@waybell/delivery-log/columns';
import { bodyIn, bodyOfDelivery, chunkOf } from '@waybell/delivery-log/read/bodies';
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
  /** Every subscription that its event goes to at once: a test goes to listeners, too. */
  subscriptions: string[];
  generation: number;
  fromAttempt: number;
  /** A test with retries. */
  isRetried: boolean;
  /** Milliseconds since the epoch. */
  dueAt: number;
  /** Null if the log no longer has it, or if it is to be made from the event. */
  body: Buffer | null;
  /** The event to make the body from, if no body was ever made; null if it is no longer kept. */
  kept: KeptForSending | null;
};

export type KeptForSending = { body: Buffer; contentType: string | null; auditFieldSet: string[] | null };

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
    ), claimed as (
      update delivery_log.sendings s set claimed_until = now() + $1 * interval '1 millisecond' from due where s.guid = due.guid
      returning s.*
    )
    select s.guid, s.why, s.delivery, s.event, s.interface, s.action, s.account, s.client, s.subscription, s.generation,
      s.from_attempt as "fromAttempt", s.is_retried as "isRetried", ${ms('s.due_at')} as "dueAt",
      convert_to(s.body, 'UTF8') as body,
      array(
        select t.subscription from delivery_log.sendings t
        where t.published_at is null and t.due_at = s.due_at and t.event = s.event and t.account = s.account
      ) as subscriptions,
      s.audit_field_set as "auditFieldSet", sent.bytes as "sentIn", sent.place as "sentAt",
      kept.content_type as "contentType", kept.bytes as "keptIn", kept.place as "keptAt"
    from claimed s
    left join lateral (${bodyOfDelivery('s.delivery')}) sent on s.body is null
    left join lateral (
      select e.content_type, c.bytes, e.place from delivery_log.events e cross join lateral (${chunkOf('e')}) c
      where e.account = s.account and e.action = s.interface || '.' || s.action and e.at = s.kept_at and e.event = s.event
        and e.place is not null
    ) kept on true`,
};

type ClaimedSending = Omit<ManualSending, 'kept'> &
  Omit<KeptForSending, 'body'> & {
    sentIn: Buffer | null;
    sentAt: number | null;
    keptIn: Buffer | null;
    keptAt: number | null;
  };

function sendingOf({
  sentIn,
  sentAt,
  keptIn,
  keptAt,
  contentType,
  auditFieldSet,
  ...row
}: ClaimedSending): ManualSending {
  const kept = bodyIn({ bytes: keptIn, place: keptAt });
  return {
    ...row,
    body: row.body ?? bodyIn({ bytes: sentIn, place: sentAt }) ?? null,
    kept: kept === undefined ? null : { body: kept, contentType, auditFieldSet },
  };
}

export function sendingsIn(postgres: Postgres, { claimMs }: { claimMs: number }): Sendings {
  return {
    claimMs,
    async claim() {
      const { rows } = await whenAvailable(postgres, () =>
        postgres.query<ClaimedSending>({ ...CLAIM, values: [claimMs] }),
      );
      return rows.map(sendingOf);
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
