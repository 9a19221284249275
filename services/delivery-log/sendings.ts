import { ms } from '@waybell/delivery-log/tables';
import { bodyIn, bodyOfDelivery, chunkOf } from '@waybell/delivery-log/read/bodies';
import type { WriteOutcomes } from '@waybell/delivery-log/write/write-outcomes';
import { type Event, keysOf } from '@waybell/events/event';
import { readEvent } from '@waybell/events/read-event';
import type { ClaimedRows } from '@waybell/line/outbox/claimed-rows';
import { publishDelivery, reportRejectedDelivery, type Delivery } from '@waybell/line/delivery';
import type { InterfaceName, ByHand, Routed } from '@waybell/line/outcomes';
import { notify } from '@waybell/notifications/notification';
import type { Log } from '@waybell/runtime/log';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';

/** A delivery that an operator or API client requested by hand. */
type ManualSending = {
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

type KeptForSending = { body: Buffer; contentType: string | null; auditFieldSet: string[] | null };

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

type ByHandOptions = {
  sendings: Pick<Sendings, 'claim' | 'settle' | 'claimMs'>;
  write: WriteOutcomes;
  log: Pick<Log, 'info'>;
};

/** Publishes due manual sendings to the deliverers. One published again is the same attempt of the same delivery. */
export function byHand({ sendings, write, log }: ByHandOptions): ClaimedRows<ManualSending> {
  return {
    claimMs: sendings.claimMs,
    async claim() {
      const due = (await sendings.claim()).map(ready);
      // Writes the records that the router publishes for others: tests, and deliveries never sent, have none.
      const records = due.flatMap((each) => each.routed ?? []);
      if (records.length > 0) await write(records);
      return due.map(({ sending }) => sending);
    },
    async settle(sent) {
      await sendings.settle(sent);
      log.info({ sent: sent.length }, 'deliveries.sent-by-hand');
    },
    reportRejection: reportRejectedDelivery(Date.now),
    publicationOf: ({ body, ...sending }) =>
      body === null ? undefined : publishDelivery(deliveryOf({ ...sending, body })),
  };
}

/** The sending, and the record of its delivery if there is none yet. */
type Ready = { sending: ManualSending; routed?: Routed };

function ready(sending: ManualSending): Ready {
  if (sending.why === 'test') return { sending, routed: routedBy(sending, []) };
  if (sending.kept === null) return { sending };
  const made = makeNotification(sending, sending.kept);
  if (made === undefined) return { sending };
  const keys = keysOf(made.event.payload, made.event.action.keys, made.event.subject);
  return { sending: { ...sending, body: made.body }, routed: routedBy(sending, keys) };
}

/** Returns the same delivery at each publish, so that a repeat is recognised. Its age counts from when it was due. */
function deliveryOf(sending: ManualSending & { body: Buffer }): Delivery {
  const { why, fromAttempt, isRetried, dueAt } = sending;
  return {
    guid: sending.delivery,
    interface: sending.interface,
    action: sending.action,
    subscription: sending.subscription,
    generation: sending.generation,
    event: sending.event,
    attempt: fromAttempt,
    createdAt: dueAt,
    beganAt: dueAt,
    byHand: { why, fromAttempt, ...(isRetried && { isRetried }) },
    body: sending.body,
  };
}

/** The log has one record of an event and a time: of those sent at once, it is the same. */
function routedBy(sending: ManualSending, keys: Routed['keys']): Routed {
  const { event, action, account, subscriptions } = sending;
  return {
    kind: 'routed',
    event,
    interface: sending.interface,
    action,
    at: sending.dueAt,
    keys,
    receivers: [account],
    deliveries: subscriptions.map((subscription) => ({ subscription, account })),
    suppressed: [],
  };
}

/** The event was accepted once, under the limits of that time. */
const UNLIMITED = { maxBytes: Number.MAX_SAFE_INTEGER, maxDepth: 10_000 };

type MadeNotification = { event: Event; body: Buffer };

/** Makes the notification of an event for this subscription; undefined if the subscription gets none of it. */
export function makeNotification(
  { delivery }: Pick<ManualSending, 'delivery'>,
  kept: KeptForSending,
): MadeNotification | undefined {
  const { body, contentType, auditFieldSet } = kept;
  const reading = readEvent({ body, ...(contentType !== null && { contentType }) }, UNLIMITED);
  if (reading.kind === 'invalid') return undefined;
  const notification = notify(reading.event)({ auditFieldSet, messageGuid: delivery });
  return notification.kind === 'suppressed' ? undefined : { event: reading.event, body: notification.body };
}
