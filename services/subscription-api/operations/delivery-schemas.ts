/**
 * Schemas of the delivery log: its events, deliveries and attempts as clients read them, made of its entries; parts of them for those that
 * show more or less; and the parameters by which lists of it are asked for.
 */
import type { TProperties, TSchema } from 'typebox';
import { CURSOR_PATTERN, writeCursor, type Page } from '@waybell/delivery-log/read/cursor';
import {
  DELIVERY_STATUSES,
  WAITING_REASONS,
  type AttemptEntry,
  type DeliveryEntry,
  type SuppressedVerdict,
  type Why,
} from '@waybell/delivery-log/read/entries';
import { BEGINNING_PATTERN } from '@waybell/delivery-log/read/first-digits';
import { PAGE_SIZE } from '@waybell/delivery-log/read/limits';
import { LONGEST_ENDPOINT } from '@waybell/delivery-log/read/subscriptions';
import { KEY_PATTERN, LONGEST_KEY } from '@waybell/events/event';
import { deliveryReasons, noSubscriptionCauses } from '@waybell/line/reasons';
import { parameter, defaultedParameter } from './operation.ts';
import {
  choice,
  component,
  count,
  described,
  from,
  guid,
  list,
  moment,
  object,
  oneOf,
  only,
  optional,
  orNull,
  text,
  whole,
} from './schema.ts';
import { asCurl, sentRequest, sentRequestSchema } from './sent-request.ts';

/** A reason with its meaning and remedy. */
export const why = {
  reason: text({ description: 'Of those that failure-reasons.md lists.', examples: ['response_timeout'] }),
  meaning: text('What the reason says, for people.'),
  remedy: text('What can be done about it, for people.'),
};

type Excused = { why?: Why };

/** The reason of what failed. */
const ofWhy = {
  reason: optional(from((entry: Excused) => entry.why?.reason, why.reason)),
  meaning: optional(from((entry: Excused) => entry.why?.meaning, why.meaning)),
  remedy: optional(from((entry: Excused) => entry.why?.remedy, why.remedy)),
};

const rule = choice(['exhausted', 'window']);

const WAITING =
  "`full`: its endpoint answered, and took no more at once. `hung`: it did not answer. `busy`: it said that it was too much (429 or 503). `paused`: its client has paused the subscription. `stopped`: the operator has stopped the subscription, or its host. `egress`: Waybell's own network had no way out. `open`: a request of it was under way, and it is sent again if the process that made the request dies.";

export const waitingReason = choice(WAITING_REASONS, WAITING);

/** An attempt with all that is known of it. */
export const attempt = {
  attempt: whole({ minimum: 1, description: 'As `X-Webhook-Attempt`.' }),
  at: moment('When it ended.'),
  kind: choice(
    ['delivered', 'failed', 'exhausted', 'dropped'],
    '`failed`: another follows at `retry_at`. `exhausted`: it was the last one, the delivery is given up. `dropped`: no request was made.',
  ),
  by_hand: optional(choice(['resend', 'test'], 'Only where no event caused it.')),
  waited: optional(described(waitingReason, `Only where it waited before, and why. ${WAITING}`)),
  http_status: optional(whole({ description: 'What the receiver answered.' })),
  ...ofWhy,
  retry_at: optional(moment('When the next attempt is due.')),
  duration_ms: optional(count('From its start until the receiver had answered, or it was given up.')),
  url: optional(text('Where the request went, or was to go; values in the query are `***`.')),
  ip: optional(text('The address connected to.')),
  dns_ms: optional(count('With the next two: of the connection, where one was made for this attempt.')),
  connect_ms: optional(count()),
  tls_ms: optional(count()),
  first_byte_ms: optional(count('From the start of the attempt until the status line.')),
  answer: optional(
    text(
      "The beginning of the answer's body, or of what came where that was no whole answer. Only where one delivery is asked for.",
    ),
  ),
  broken_rule: optional(text('With `invalid_response`: why what came is no response of HTTP, in words.')),
  error: optional(text('Where no status came: what OpenSSL or the system said, such as `ERR_SSL_DH_KEY_TOO_SMALL`.')),
  location: optional(text('With `redirect`: where it leads; values in the query are `***`.')),
};

/** Only operators may know the address of a name inside their network. */
const ip = from(
  ({ ip: address, why: excuse }: AttemptEntry) => (excuse?.reason === 'blocked_address' ? undefined : address),
  attempt.ip,
);

/** The log has what receivers answered only where one delivery is asked for: it would swell a list. */
export const Attempt = component('Attempt', object({ ...attempt, ip }));

const KEYS = 'What it is about: order, vehicles, offer and so on, by each name.';

export const keys = list(
  object({
    kind: text({ examples: ['order_guid', 'order_id', 'vin'] }),
    key: text({ examples: ['4711'] }),
  }),
  KEYS,
);

/** A delivery but for its attempts. */
export const delivery = {
  guid: from('delivery', guid('As `webhook-id`.')),
  event_guid: guid(),
  action: text(),
  keys: described(keys, `${KEYS} None where the log does not have its event any more.`),
  subscription_guid: guid(),
  at: moment('When it was made.'),
  status: choice(
    DELIVERY_STATUSES,
    '`waiting`: for its first attempt. `retrying`: the last attempt failed, another is due. `exhausted`: given up after the last. `dropped`: there was no subscription any more to send it to.',
  ),
  ...ofWhy,
  next_attempt_at: optional(moment('While it is retried.')),
  waiting: optional(
    object(
      { since: moment(), why: waitingReason },
      'Only while it waits in Postgres: nearly always for its endpoint (account, scheme, host, port and path).',
    ),
  ),
  deactivation: optional(object({ at: moment(), rule }, 'Only where its end switched the subscription off.')),
};

const attempts = list(Attempt);

export const Delivery = component('Delivery', object({ ...delivery, attempts }));

export const ListedDelivery = component(
  'ListedDelivery',
  object({
    ...delivery,
    attempts,
    ended_at: optional(moment('Only with `after`: when it ended, for the place that it has there.')),
    body: optional(orNull(text(), 'Only with `include=body`: what was sent, to the byte, as UTF-8.')),
    body_state: optional(
      from(
        ({ body }: { body?: string | null }) =>
          body === undefined ? undefined : body === null ? 'no_longer_kept' : 'kept',
        choice(
          ['kept', 'no_longer_kept'],
          'Beside `body`: why there is none, its time is over or it was deleted since.',
        ),
      ),
    ),
  }),
);

/** A delivery, and its body where that is kept. */
export type DeliverySent = DeliveryEntry & { body: string | undefined };

/** All that is known of a delivery, made of a DeliverySent. */
export const DeliveryDetail = component(
  'DeliveryDetail',
  object({
    ...delivery,
    attempts,
    request: from((sent: DeliverySent) => sentRequest(sent, sent.body), sentRequestSchema),
    curl: from(
      (sent: DeliverySent) => asCurl(sentRequest(sent, sent.body)),
      orNull(
        text(),
        'The same request for a shell. Secrets are variables: `$VERIFICATION_TOKEN`, `$WEBHOOK_SIGNATURE`, `$QUERY_1` and so on for values in the query, `$CALLBACK_URL` where no request was made yet. What credentials for its host add is left out. Null without a body.',
      ),
    ),
  }),
);

/** Why an event came to nothing: with the subscription or, without one, the cause. */
export const suppressed = {
  kind: only('suppressed'),
  ...why,
  subscription_guid: optional(
    from(
      ({ subscription, noSubscription }: SuppressedVerdict) => subscription ?? noSubscription?.subscription,
      guid('Which one it was that got nothing, was off, had ended, or came later.'),
    ),
  ),
  cause: optional(
    from(
      ({ noSubscription }: SuppressedVerdict) => noSubscription?.cause,
      choice(Object.keys(noSubscriptionCauses), 'Only with `no_subscription`: how it came about that there was none.'),
    ),
  ),
  cause_at: optional(
    from(
      ({ noSubscription }: SuppressedVerdict) => noSubscription?.at,
      moment('Since when it was switched off, when it had ended, or when it was made.'),
    ),
  ),
  rule: optional(
    from(
      ({ noSubscription }: SuppressedVerdict) => noSubscription?.rule,
      described(rule, 'Which rule switched it off.'),
    ),
  ),
};

/** The schema of an event's outcome, with members that depend on the reader. */
export const verdict = (ofDelivery: TSchema, more: Record<'suppressed' | 'rejected', TProperties>) =>
  oneOf(
    [
      object({ kind: only('delivery'), delivery: ofDelivery }),
      object({ ...suppressed, ...more.suppressed }),
      object({
        kind: only('rejected'),
        ...why,
        ...more.rejected,
        detail: text('What of the event broke which rule.'),
      }),
    ],
    'What an event came to: a delivery, or why there is none.',
  );

export const Verdict = component('Verdict', verdict(Delivery, { suppressed: {}, rejected: {} }));

/** An event but for what became of it. */
export const event = {
  event_guid: guid(),
  action: text(),
  at: moment('When it was looked at.'),
  keys,
};

export const TimelineEvent = component('TimelineEvent', object({ ...event, verdicts: list(Verdict, { minItems: 1 }) }));

/** A page of entries, made of a Page, or of one whose `next` is text. */
export const pageOf = (entry: TSchema, more: TProperties = {}) =>
  object({
    objects: from('entries', list(entry, { maxItems: PAGE_SIZE.most })),
    next: from(
      ({ next }: { next?: Page<unknown>['next'] | string }) => (typeof next === 'object' ? writeCursor(next) : next),
      orNull(text(), 'The `cursor` of the next page; null: there is none.'),
    ),
    ...more,
  });

/** The parameters by which a client goes from page to page. */
export const paging = {
  limit: defaultedParameter(
    'How many entries a page has at most.',
    whole({ minimum: 1, maximum: PAGE_SIZE.most, default: PAGE_SIZE.default }),
  ),
  cursor: parameter(
    'The `next` of the page before; what comes in meanwhile moves nothing.',
    text({ pattern: CURSOR_PATTERN, description: 'the `next` of a page of the same request' }),
  ),
};

/** A key of an event. */
export const key = text({
  pattern: KEY_PATTERN,
  maxLength: LONGEST_KEY,
  description: 'a guid, a number, a VIN or another name of something',
  examples: ['4711', '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11'],
});

/** The parameter for the kind of a key. */
export const keyKind = parameter(
  'The kind of the key, where several things have the same. One that no key has is refused, with the names of those that there are.',
  text({ pattern: '^[a-z_]{1,100}$', description: 'the kind of a key', examples: ['order_id'] }),
);

/** Why there is a query beside a path. */
export const BY_QUERY =
  'Proxies change what a path has, such as an encoded slash, and leave a query as it is: ask so where people choose the key.';

/** The parameters that say what of a timeline is asked for; the key is in the query where it is not in the path. */
export const timeline = { kind: keyKind, ...paging };
export const timelineByQuery = { key: parameter('What is asked about.', key, { required: true }), ...timeline };

const momentInQuery = moment({ examples: ['2026-11-20T09:30:00Z'] });

/** Filters of deliveries, for clients and operators alike. `action`: the schema of an action. */
export const deliveryFilters = <Action extends TSchema>(action: Action) => ({
  key: parameter('What they are about, as for the timeline.', key),
  kind: keyKind,
  guid: parameter(
    'The guid of a delivery or of its event, or the first eight digits of it.',
    text({
      pattern: BEGINNING_PATTERN,
      description: 'a guid, or its first eight digits',
      examples: ['1f0c9a52', '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11'],
    }),
  ),
  action: parameter('An action of the interface.', action),
  status: parameter(
    'How they stand: some of these, with commas between, such as `exhausted,dropped`.',
    list(choice(DELIVERY_STATUSES), { minItems: 1, maxItems: DELIVERY_STATUSES.length }),
    { style: 'form', explode: false },
  ),
  subscription: parameter('To this subscription alone.', guid()),
  endpoint: parameter(
    'To subscriptions whose callbacks go there now: a host, also with its port, an origin, or a URL, of which the query does not count.',
    text({
      minLength: 1,
      maxLength: LONGEST_ENDPOINT,
      examples: ['receiver.example.com', 'https://receiver.example.com:8443', 'https://receiver.example.com/hooks'],
    }),
  ),
  reason: parameter(
    'Why they were given up or dropped; with `status=retrying`, why the last attempt failed.',
    choice(deliveryReasons),
  ),
  since: parameter('Made at this time or later.', momentInQuery),
  until: parameter('Made before this time.', momentInQuery),
  ...paging,
});
