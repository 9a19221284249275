/**
 * Schemas of what operators are shown of the log and the tables: of every account and client, with receivers' answers. Those that name
 * accounts take `AccountNames` as their context.
 */
import { Type, type Static, type TSchema } from 'typebox';
import { noticeProperties } from '@waybell/contracts/operations-channel';
import { accountsOf } from '@waybell/delivery-log/read/accounts';
import { writeCursor } from '@waybell/delivery-log/read/cursor';
import type { EventEntry, SuppressedVerdict } from '@waybell/delivery-log/read/entries';
import { standingAt, type SubscriptionEntry } from '@waybell/delivery-log/read/subscriptions';
import type { Queryable } from '@waybell/runtime/postgres';
import type { AuditNote } from '../audit-log.ts';
import type { WhyResult } from '../why.ts';
import { Account } from './accounts.ts';
import { attempt, delivery, event, verdict, waitingReason } from './delivery-schemas.ts';
import {
  choice,
  component,
  count,
  flag,
  from,
  guid,
  list,
  moment,
  nodeOf,
  object,
  objects,
  oneOf,
  only,
  optional,
  orNull,
  text,
} from './schema.ts';
import { stopped } from './subscriptions.ts';

/** Accounts' names, by guid. */
export type AccountNames = ReadonlyMap<string, { name: string | null }>;

/** The names of the accounts that these are of. */
export const namesOf = (postgres: Queryable, rows: readonly { account: string }[]): Promise<AccountNames> =>
  accountsOf(
    postgres,
    rows.map(({ account }) => account),
  );

/** The value, or null, told beside it. */
export const either = <T extends TSchema>(schema: T, description: string) =>
  Type.Unsafe<Static<T> | null>({ anyOf: [schema, { type: 'null' }], description });

const AccountName = component(
  'AccountName',
  object({ guid: guid(), name: orNull(text(), 'Null: it has none, or Waybell does not know the account.') }),
);

const called = (account: string, names: AccountNames) => ({ guid: account, name: names.get(account)?.name });

const account = from((row: { account: string }, names: AccountNames) => called(row.account, names), AccountName);
const client = from('client', text());
const ofClient = { account, client_id: client };

const ofSubscription = from('subscription', guid());
const interfaceName = choice(['shipper', 'carrier']);
const url = text('Without its query.');

export const OperatorDelivery = component(
  'OperatorDelivery',
  object({
    ...delivery,
    ...ofClient,
    interface: interfaceName,
    attempts: list(object({ ...attempt, subscription_guid: guid('It may be another than the first: see resends.') })),
  }),
);

const OperatorVerdict = component(
  'OperatorVerdict',
  verdict(OperatorDelivery, {
    suppressed: {
      account: optional(
        from((row: SuppressedVerdict, names: AccountNames) => row.account && called(row.account, names), AccountName),
      ),
      client_id: optional(client),
    },
    rejected: { delivery_guid: optional(guid()) },
  }),
);

export const OperatorEvent = component(
  'OperatorEvent',
  object({
    ...event,
    interface: choice(['shipper', 'carrier', null], 'Null where it could not be told of what was rejected.'),
    receivers: from(
      ({ receivers }: EventEntry, names: AccountNames) => receivers.map((each) => called(each, names)),
      list(AccountName),
    ),
    verdicts: list(OperatorVerdict),
  }),
);

const subscription = {
  guid: ofSubscription,
  ...ofClient,
  interface: interfaceName,
  action: text(),
  url,
  created_at: moment(),
};

export const OperatorSubscription = component(
  'OperatorSubscription',
  object({
    ...subscription,
    ended_at: orNull(moment(), 'Null: it is a current one.'),
    paused_until: orNull(moment(), 'Null: its client has not paused it.'),
    stopped: from('stop', orNull(stopped, 'Null: neither it nor its host is stopped by an operator.')),
    standing: from(
      (entry: SubscriptionEntry) => standingAt(entry, Infinity).kind,
      choice(['active', 'switched_off', 'ended']),
    ),
    failing_since: optional(orNull(moment(), 'Since when its attempts fail; null: the last one did not.')),
    last_success_at: optional(orNull(moment(), 'When its last successful attempt ended; null: none has.')),
    switches: list(
      object({
        at: moment(),
        is_on: flag(),
        rule: optional(choice(['exhausted', 'window', 'unknown'], 'Which rule switched it off.')),
      }),
      'When a rule switched it off, and when its client subscribed again, the first one first.',
    ),
  }),
);

/** A subscription to which a rule applied. */
const judged = {
  ...subscription,
  rule: choice(['exhausted', 'window'], 'Which rule switched it off, or would.'),
  delivery_guid: orNull(guid(), 'The delivery that did it; null: it is not known.'),
};

export const SwitchedOff = component('SwitchedOff', object({ ...judged, switched_off_at: moment() }));

export const HeldDeactivation = component('HeldDeactivation', object({ ...judged, held_at: moment() }));

const room = {
  bytes: count(),
  oldest_at: moment('When the oldest of them was made.'),
  shut_since: orNull(moment(), 'Since when it has taken nothing; null: it answers, and takes some.'),
  is_claimed: flag('Whether a process that lives has it in hand.'),
  next_try_at: orNull(moment(), 'When a process is to look at it next; null while one has it in hand.'),
};

export const WaitingEndpoint = component(
  'WaitingEndpoint',
  object({
    account,
    url: orNull(text(), 'Without its query; null: no subscription has it any more.'),
    subscription_guids: from('subscriptions', list(guid(), 'Those that something waits for.')),
    deliveries: count(),
    is_complete: flag('False: there are more than 10,000. What is told is then of 10,000 of them.'),
    why: list(waitingReason, { description: nodeOf(waitingReason)['description'] }),
    ...room,
  }),
);

const WaitingDestination = component(
  'WaitingDestination',
  object({
    service: text({ description: 'Whose it is.', examples: ['event-router'] }),
    exchange: text(),
    routing_key: text(),
    publications: count(),
    ...room,
  }),
);

const waitingEndpoints = objects(
  WaitingEndpoint,
  'Endpoints that deliveries wait for; what has waited longest comes first.',
);

export const waitingDestinations = objects(
  WaitingDestination,
  'What waits in Postgres as RabbitMQ does not accept it; what has waited longest comes first.',
);

export const Waiting = component('Waiting', object({ endpoints: waitingEndpoints, destinations: waitingDestinations }));

const FailingOrigin = component(
  'FailingOrigin',
  object({
    account,
    origin: text({ examples: ['https://receiver.example.com'] }),
    failed: count('Attempts that failed, of `attempts`.'),
    attempts: count(),
    reason: text('The most frequent one.'),
  }),
);

export const Undelivered = component(
  'Undelivered',
  object({ guid: from('delivery', guid()), account, action: text(), at: moment(), attempts: count() }),
);

const Interrupted = component(
  'Interrupted',
  object({
    guid: ofSubscription,
    ...ofClient,
    interface: interfaceName,
    action: text(),
    url,
    state: choice(
      ['off', 'stopped', 'paused', 'missed'],
      '`missed`: it is on again, and what it missed was not replayed.',
    ),
    since: orNull(moment()),
    until: orNull(moment()),
    reason: orNull(text(), 'The rule that switched it off, or why an operator stopped it.'),
    missed: orNull(count(), 'As the delivery log knows, up to 1,000 of a kind. Null: it waits.'),
  }),
);

/** As it is told the platform. */
const OperationsNotice = component(
  'OperationsNotice',
  Type.Unsafe<unknown>({ type: 'object', required: Object.keys(noticeProperties), properties: noticeProperties }),
);

export const Failing = component(
  'Failing',
  object({
    since: moment(),
    origins: objects(FailingOrigin, 'Where attempts fail most.'),
    waiting: waitingEndpoints,
    undelivered: objects(Undelivered, 'The oldest deliveries without an end.'),
    interrupted: objects(
      Interrupted,
      'Subscriptions that get nothing now, or missed what was not replayed, the latest first.',
    ),
    notices: objects(OperationsNotice, 'What the platform was told last, the latest first.'),
  }),
);

const madeOf = { interface: interfaceName, action: text() };
const at = moment();

const Candidate = component(
  'Candidate',
  oneOf(
    [
      object({
        kind: only('key'),
        key: text(),
        key_kind: text({ examples: ['order_id'] }),
        events: count('How many there are; 1,000: or more.'),
        at: moment('When the last one of those counted was looked at.'),
      }),
      object({ kind: only('event'), guid: from('event', guid()), ...madeOf, at }),
      object({ kind: only('delivery'), guid: from('delivery', guid()), ...ofClient, ...madeOf, at }),
      object({ kind: only('subscription'), guid: ofSubscription, ...ofClient, ...madeOf, url, at }),
      object({
        kind: only('account'),
        guid: from('account', guid()),
        interface: interfaceName,
        name: orNull(text()),
        at,
      }),
    ],
    'What was asked by may be this. Ask again by its guid, or with `as`, and for a key with `kind`.',
  ),
);

type OfEvents = Extract<WhyResult, { kind: 'events' }>;
type OfAccount = Extract<WhyResult, { kind: 'account' }>;

/** Made of a WhyAnswer. */
export const Told = component(
  'Told',
  oneOf(
    [
      object({ kind: only('several'), objects: from('candidates', list(Candidate)) }),
      object({
        kind: only('events'),
        objects: from(({ page }: OfEvents) => page.entries, list(OperatorEvent)),
        next: from(
          ({ page: { next } }: OfEvents) => next && writeCursor(next),
          orNull(text(), 'The `cursor` of the next page; null: there is none.'),
        ),
      }),
      object({ kind: only('delivery'), delivery: OperatorDelivery }),
      object({
        kind: only('subscription'),
        subscription: OperatorSubscription,
        deliveries: from('latest', list(OperatorDelivery)),
      }),
      object({
        kind: only('account'),
        account: from(({ account: { account: named, ...entry } }: OfAccount) => ({ guid: named, ...entry }), Account),
        subscriptions: from(
          ({ subscriptions }: OfAccount) => subscriptions.filter(({ endedAt }) => endedAt === null),
          list(OperatorSubscription, 'Current ones; the account has a list of all.'),
        ),
        deliveries: from('latest', list(OperatorDelivery, 'The latest.')),
      }),
    ],
    'What is known. `several`: it means several things.',
  ),
);

type Noted = Pick<AuditNote, 'account_guid' | 'account_name'>;

/** The account that a note of the audit log names. */
const noted = ({ account_guid: named, account_name: name }: Noted) => named && { guid: named, name };

export const Change = component(
  'Change',
  object({
    at: moment(),
    who: text({ examples: ['token 3d1c2f0a-6f5e-4a3f-9a55-0c8f2f0f7d11', 'command line'] }),
    origin: orNull(text(), 'An address, or a person at a machine.'),
    request_id: orNull(guid(), 'Null outside of a request.'),
    what: text({ examples: ['subscription.changed'] }),
    account: from(noted, either(AccountName, 'Null where it is of none: a host.')),
    subject_guid: orNull(guid(), 'The account, token, signing secret or subscription; null: a host.'),
    details: Type.Unsafe<unknown>({ type: 'object', description: 'The new values of what changed.' }),
    by: either(
      object({ account: from(noted, AccountName), client_id: text() }),
      'Whose token it was done by; null: by none, or it is gone.',
    ),
    action: orNull(text(), 'Of the subscription; null: of something else, or it is gone.'),
    client_id: orNull(text(), 'Of the subscription or the token.'),
    callback_origin_before: orNull(text(), 'Where callbacks led to before, if that changed.'),
  }),
);
