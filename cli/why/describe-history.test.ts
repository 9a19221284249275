import { describe, expect, test } from '@jest/globals';
import type { AccountEntry } from '@waybell/delivery-log/read/accounts';
import type { AttemptEntry, DeliveryEntry, EventEntry, EventVerdict } from '@waybell/delivery-log/read/entries';
import type { SearchMatch } from '@waybell/delivery-log/read/find-anything';
import type { SubscriptionEntry } from '@waybell/delivery-log/read/subscriptions';
import type { WaitingReason } from '@waybell/line/outcomes';
import {
  meaningOf,
  noSubscriptionCauses,
  reasonTables,
  type ReasonKind,
  type ReasonMeaning,
} from '@waybell/line/reasons';
import type { MissedOfAction } from '@waybell/subscription-api/by-hand/missed-by-action';
import { describeMissed, replayable } from '../commands/missed.ts';
import { describeAccount, describeCandidate, describeSubscription } from '../commands/why.ts';
import { describeDelivery, describeEvent } from './describe-history.ts';

const NINE = Date.parse('2026-11-20T09:00:00Z');
const attempt = (attemptNumber: number, what: Partial<AttemptEntry>): AttemptEntry => ({
  attempt: attemptNumber,
  at: NINE + attemptNumber * 1_000,
  kind: 'failed',
  subscription: 'first',
  ...what,
});
const nameOf = () => undefined;
const delivery: DeliveryEntry = {
  delivery: 'd',
  event: 'e',
  interface: 'carrier',
  action: 'order.created',
  keys: [],
  at: NINE,
  subscription: 'first',
  account: 'a',
  client: 'c',
  status: 'exhausted',
  attempts: [],
};

describe('describeDelivery', () => {
  test('tells of one that was sent again after a switch-off in the order of time, and to whom it goes now', () => {
    const attempts = [
      attempt(1, { kind: 'exhausted' }),
      attempt(2, { kind: 'dropped', at: NINE + 60_000 }),
      attempt(3, { kind: 'delivered', at: NINE + 120_000, byHand: 'resend', subscription: 'second' }),
    ];
    const deactivation = { at: NINE + 1_500, rule: 'exhausted' };
    expect(describeDelivery({ ...delivery, status: 'delivered', attempts, deactivation }, nameOf).slice(1)).toEqual([
      '  to account a, client c, subscription second',
      '  2026-11-20 09:00:01.000  attempt 1  to subscription first',
      '  2026-11-20 09:00:01.500  this switched the subscription off (a delivery was given up)',
      '  2026-11-20 09:01:00.000  no attempt 2:   to subscription first',
      '  2026-11-20 09:02:00.000  attempt 3  resend',
    ]);
  });

  test('says of what was no response which rule it broke, and what came', () => {
    const why = { reason: 'invalid_response', meaning: '', remedy: '' };
    const broken = attempt(1, { why, brokenRule: 'line 1 of its headers has no colon', answer: 'HTTP/1.1 200\r\nno' });
    expect(describeDelivery({ ...delivery, attempts: [broken] }, nameOf).slice(-2)).toEqual([
      '  2026-11-20 09:00:01.000  attempt 1  invalid_response: line 1 of its headers has no colon',
      '    said: HTTP/1.1 200 no',
    ]);
  });

  test('names the one subscription once, and the one that waits for its first attempt', () => {
    const once = describeDelivery({ ...delivery, attempts: [attempt(1, {})] }, nameOf).join();
    expect(once.match(/subscription first/g)).toHaveLength(1);
    expect(describeDelivery(delivery, nameOf)[1]).toContain('subscription first');
  });

  const retrying = {
    ...delivery,
    status: 'retrying' as const,
    attempts: [attempt(1, { durationMs: 5 })],
    nextAttemptAt: NINE + 60_000,
  };
  const first = (entry: DeliveryEntry, now: number) => describeDelivery(entry, nameOf, now)[0];
  const due = 'delivery d: not delivered yet, after 1 attempt; the next';
  const unmade =
    'and no attempt was made: no deliverer has taken it, or RabbitMQ has lost it by a policy (see "./waybell status")';

  test('says when the next attempt is due, and of one that was missed how long ago that was', () => {
    expect(first(retrying, NINE)).toBe(`${due} is due at 2026-11-20 09:01:00.000`);
    expect(first(retrying, NINE + 90_000)).toBe(`${due} was due at 2026-11-20 09:01:00.000`);
    expect(first(retrying, NINE + 13 * 60_000)).toBe(
      `${due} was due at 2026-11-20 09:01:00.000, 12 minutes ago, ${unmade}`,
    );
    expect(first(retrying, NINE + 5 * 3_600_000)).toContain(', 4 hours ago, ');
    expect(first(retrying, NINE + 48 * 3_600_000)).toContain(', 47 hours ago, ');
    expect(first(retrying, NINE + 49 * 3_600_000)).toContain(', 2 days ago, ');
    expect(first({ ...delivery, status: 'waiting' }, NINE + 200_000)).toBe(
      `delivery d: waiting for its first attempt, due at 2026-11-20 09:00:00.000, 3 minutes ago, ${unmade}`,
    );
  });

  test('says of one that waits no more than that', () => {
    const waiting = { since: NINE + 60_000, why: 'hung' as const };
    expect(first({ ...retrying, waiting }, NINE + 13 * 60_000)).toBe(
      `${due} was due at 2026-11-20 09:01:00.000; waiting since 2026-11-20 09:01:00.000: the endpoint is not responding`,
    );
  });

  test.each<[string, Partial<DeliveryEntry>]>([
    ['waiting for its first attempt', { status: 'waiting', attempts: [] }],
    ['not delivered yet, after 2 attempts; the next is due at 2026-11-20 09:01:00.000', { status: 'retrying' }],
    ['delivered after 2 attempts', { status: 'delivered' }],
    ['given up after 2 attempts', { status: 'exhausted' }],
    ['dropped after 2 attempts: gone', { status: 'dropped' }],
    ['rejected after 2 attempts: gone', { status: 'rejected' }],
  ])('says how it stands: %s', (told, what) => {
    // The third is an end without an attempt.
    const attempts = [attempt(1, { durationMs: 5 }), attempt(2, { durationMs: 7 }), attempt(3, { kind: 'dropped' })];
    const why = { reason: 'gone', meaning: '', remedy: '' };
    expect(first({ ...delivery, attempts, why, nextAttemptAt: NINE + 60_000, ...what }, NINE)).toBe(
      `delivery d: ${told}`,
    );
  });

  test.each<[WaitingReason, string]>([
    ['full', 'the endpoint is at its limit of concurrent requests'],
    ['hung', 'the endpoint is not responding'],
    ['busy', 'the endpoint asked to slow down (429 or 503)'],
    ['paused', 'the subscription is paused'],
    ['stopped', 'the subscription or its host is stopped by an operator'],
    ['egress', 'Waybell has no outbound network'],
    ['open', 'a request is in progress'],
    ['broker', 'buffered in Postgres (RabbitMQ not accepting)'],
  ])('says of one that waits why: %s', (why, told) => {
    expect(first({ ...delivery, waiting: { since: NINE, why } }, NINE)).toBe(
      `delivery d: given up after 0 attempts; waiting since 2026-11-20 09:00:00.000: ${told}`,
    );
  });

  test('says of an attempt what was answered, by whom, and how long each part of it took', () => {
    const facts = { httpStatus: 503, why: { reason: 'http_5xx', meaning: '', remedy: '' }, url: 'https://a.test/' };
    const parts = { durationMs: 100, dnsMs: 1, connectMs: 2, tlsMs: 3, firstByteMs: 4 };
    const more = { ip: '192.0.2.1', waited: 'hung', byHand: 'test' } as const;
    expect(describeDelivery({ ...delivery, attempts: [attempt(1, { ...facts, ...parts, ...more })] }, nameOf)[2]).toBe(
      '  2026-11-20 09:00:01.000  attempt 1  503  http_5xx  100 ms (DNS 1, connect 2, TLS 3, first byte 4)  https://a.test/  (192.0.2.1)  waited: hung  test',
    );
  });
});

const meant = { meaning: 'It means.', remedy: 'Do this.' };

describe('describeEvent', () => {
  const event: EventEntry = {
    event: 'e',
    interface: 'shipper',
    action: 'order.paid',
    at: NINE,
    keys: [
      { kind: 'order_guid', key: 'o' },
      { kind: 'user_guid', key: 'u' },
      { kind: 'vin', key: 'v' },
    ],
    receivers: ['a'],
    verdicts: [],
  };
  const told = (verdict: EventVerdict) => describeEvent({ ...event, verdicts: [verdict] }, () => 'acme', NINE).slice(2);

  test('says what it is about, and of whom nothing is known', () => {
    const begin = '2026-11-20 09:00:00.000  shipper order.paid  event e';
    expect(describeEvent(event, nameOf)).toEqual([begin, '  about order_guid o, vin v']);
    expect(describeEvent({ ...event, interface: null, keys: [] }, nameOf)).toEqual([
      begin.replace('shipper', 'unknown interface'),
    ]);
  });

  test.each<[string, Omit<EventVerdict & { kind: 'suppressed' }, 'kind' | keyof typeof meant>]>([
    ['any account: duplicate', { reason: 'duplicate' }],
    ['account a (acme): no_subscription', { reason: 'no_subscription', account: 'a' }],
    [
      'account a (acme), client c, subscription s: feature_off',
      { reason: 'feature_off', account: 'a', client: 'c', subscription: 's' },
    ],
    [
      'account a (acme): no_subscription, switched_off since 2026-11-20 09:00:01.000 (subscription s, all deliveries failed for too long)',
      {
        reason: 'no_subscription',
        account: 'a',
        noSubscription: { cause: 'switched_off', subscription: 's', at: NINE + 1_000, rule: 'window' },
      },
    ],
    [
      'account a (acme): no_subscription, ended at 2026-11-20 09:00:01.000 (subscription s)',
      {
        reason: 'no_subscription',
        account: 'a',
        noSubscription: { cause: 'ended', subscription: 's', at: NINE + 1_000 },
      },
    ],
  ])('not sent to %s', (whoAndWhy, what) => {
    expect(told({ kind: 'suppressed', ...what, ...meant })).toEqual([
      `  not sent to ${whoAndWhy}`,
      '    It means. Do this.',
    ]);
  });

  test('says what was rejected, the event or a delivery of it, with the fault', () => {
    const fault = { kind: 'rejected', reason: 'no_json', detail: 'at byte 3', ...meant } as const;
    const [what, ...more] = ['  the event was rejected: no_json', '    at byte 3', '    It means. Do this.'];
    expect(told(fault)).toEqual([what, ...more]);
    expect(told({ ...fault, delivery: 'd' })).toEqual(['  delivery d was rejected: no_json', ...more]);
  });
});

/** Words that no other reason of its kind has: what each means, and what to do. */
const REASONS: Record<ReasonKind | 'cause', Record<string, [meaning: string, remedy: string]>> = {
  failed: {
    credentials_unavailable: ['could not be authenticated', 'have the token URL give a token'],
    dns: ['could not be resolved', 'A or AAAA record'],
    blocked_address: ['private or reserved addresses', 'resolve to a public address'],
    connect_refused: ['refused the connection', 'Start the receiver'],
    connect_timeout: ['took longer than the limit', 'Let the firewall accept'],
    unreachable: ['No network route', 'an IPv6 address that is not served'],
    tls_name: ['is for other host names', 'that names this host'],
    tls_expired: ['has expired or is not valid yet', 'Renew the certificate'],
    tls_untrusted: ['does not lead to a known authority', 'the intermediate certificates'],
    tls_failed: ['TLS handshake failed', 'Offer TLS 1.2 or newer'],
    tls_certificate_required: ['asks for a client certificate:', 'Add one that the receiver accepts'],
    handover_timeout: ['did not take the whole request', 'Read the request as it comes'],
    response_timeout: ['No complete status and headers', 'as soon as the request is stored'],
    reset: ['The connection ended', 'crashes, limits and idle timeouts'],
    invalid_response: ['not a response of HTTP/1.1', 'Check that the port speaks HTTP/1.1'],
    redirect: ['status is 3xx', 'once they have taken a request'],
    http_4xx: ['status is 4xx', 'path, token, size, rate'],
    http_5xx: ['status is 5xx', 'for the error'],
    http_other: ['600 or more', 'with a 2xx status'],
    unknown: ['None of the others', "with the delivery's guid"],
    expired: ['waited longer than a delivery may', 'Answer quickly'],
    parked_over_limit: ['than an account may have waiting', 'Let the receiver answer'],
  },
  dropped: {
    unsubscribed: ['had been ended', 'Subscribe again;'],
    gone: ['had answered 410', 'with a URL that exists'],
    closed: ['had been closed', 'opens it again'],
    deactivated: ['had been switched off', 'switch the subscription on'],
    feature_off: ['feature that the action needs', 'Have the feature switched on'],
    forgotten: ['An operator deleted', 'nothing left to send'],
  },
  suppressed: {
    no_subscription: ['No subscription to the action was on', 'Subscribe to the action'],
    duplicate: ['had been published before', 'the earlier entry'],
    feature_off: ['feature that the action needs', 'Have the feature switched on'],
    links_missing: ['without the links', 'the event that carries the links'],
    no_audited_change: ['None of the fields', 'the fields that matter'],
    position_absorbed: ['had not moved far enough', 'when it differs by the distance'],
  },
  rejected: {
    handler_failed: ['failed on it again and again', 'The operator has to look'],
    process_killed: ['The process that handled it died', 'The operator has to look'],
    newer_format: ['A later version', 'once all services are of that version'],
    unbound: ['no queue for what it causes', 'The operator has to look'],
    dead_lettered: ['RabbitMQ took it out', 'The operator has to look'],
    too_large_for_broker: ['larger than the broker takes', 'The operator has to look'],
  },
  cause: {
    unknown_account: ['did not know the account', 'Check the guid'],
    never_subscribed: ['has been none since', 'Subscribe to the action'],
    switched_off: ['had been switched off', 'switch the subscription on'],
    ended: ['had ended', 'Subscribe again'],
    subscribed_later: ['after the event came', 'Replay what was missed'],
  },
};

describe('a reason', () => {
  const tables: Record<string, Partial<Record<string, ReasonMeaning>>> = {
    ...reasonTables,
    cause: noSubscriptionCauses,
  };
  const all = Object.entries(REASONS).flatMap(([kind, of]) =>
    Object.entries(of).map(([reason, [meaning, remedy]]) => ({ kind, reason, meaning, remedy })),
  );

  test('is one of these', () => {
    const namesOf = (table: object) => Object.keys(table).toSorted();
    for (const [kind, table] of Object.entries(tables))
      expect(namesOf(REASONS[kind as ReasonKind])).toEqual(namesOf(table));
  });

  test.each(all)('$kind $reason is told by its own words', ({ kind, reason, meaning, remedy }) => {
    const { [reason]: own = { meaning: '', remedy: '' }, ...others } = tables[kind] ?? {};
    const told = describeDelivery({ ...delivery, why: { reason, ...own } }, nameOf).at(-1);
    expect(told).toBe(`  ${own.meaning} ${own.remedy}`);
    expect(own.meaning).toContain(meaning);
    expect(own.remedy).toContain(remedy);
    for (const other of Object.values(others)) expect(other?.meaning).not.toContain(meaning);
  });

  test('that this version does not know is told all the same', () => {
    expect(meaningOf('rejected', 'payload_invalid').meaning).toContain('breaks the contract');
    expect(meaningOf('dropped', 'of_tomorrow')).toEqual(meaningOf('failed', 'unknown'));
  });
});

describe('what a text may mean', () => {
  const of = { interface: 'carrier', action: 'order.created', at: NINE } as const;
  const owned = { ...of, account: 'a', client: 'c' };

  test.each<[SearchMatch, string, string]>([
    [
      { kind: 'event', event: 'e', ...of },
      'e',
      'event: carrier order.created of 2026-11-20 09:00:00.000  ./waybell why --event e',
    ],
    [
      { kind: 'delivery', delivery: 'd', ...owned },
      'd',
      'delivery: carrier order.created of 2026-11-20 09:00:00.000  ./waybell why --delivery d',
    ],
    [
      { kind: 'subscription', subscription: 's', url: 'https://a.test/', ...owned },
      's',
      'subscription: carrier order.created, to https://a.test/, of 2026-11-20 09:00:00.000  ./waybell why --subscription s',
    ],
    [{ kind: 'account', account: 'a', name: 'acme', ...of }, 'acme', 'account: acme  ./waybell why --account a'],
    [{ kind: 'account', account: 'a', name: null, ...of }, 'a', 'account: carrier  ./waybell why --account a'],
    [
      { kind: 'key', key: '4711', keyKind: 'order_id', events: 3, at: NINE },
      '4711',
      'order_id: 3 events, the last at 2026-11-20 09:00:00.000  ./waybell why --subject 4711 --kind order_id',
    ],
    [
      { kind: 'key', key: "it's 1", keyKind: 'vin', events: 1_000, at: NINE },
      "it's 1",
      String.raw`vin: 1000 events or more, the last at 2026-11-20 09:00:00.000  ./waybell why --subject 'it'\''s 1' --kind vin`,
    ],
  ])('%j is a line with the command that asks for it', (found, text, line) => {
    expect(describeCandidate(found, text)).toBe(line);
  });
});

describe('a subscription and its account', () => {
  const subscription: SubscriptionEntry = {
    subscription: 's',
    account: 'a',
    client: 'c',
    interface: 'carrier',
    action: 'order.created',
    url: 'https://a.test/',
    createdAt: NINE,
    endedAt: null,
    pausedUntil: null,
    stop: null,
    failingSince: null,
    lastSuccessAt: null,
    switches: [],
  };
  const off = { at: NINE + 2_000, isOn: false, rule: 'window' } as const;
  const on = { at: NINE + 3_000, isOn: true } as const;
  const account: AccountEntry = {
    account: 'a',
    interface: 'carrier',
    name: 'acme',
    features: ['insurance', 'escalation'],
    createdAt: NINE,
    closedAt: null,
  };

  test.each<[string, Partial<SubscriptionEntry>]>([
    ['on', {}],
    ['switched off since 2026-11-20 09:00:02.000 (all deliveries failed for too long)', { switches: [off] }],
    ['on', { switches: [off, on] }],
    ['ended at 2026-11-20 09:00:05.000', { switches: [off], endedAt: NINE + 5_000 }],
  ])('say how it stands: %s %j', (stands, what) => {
    const entry = { ...subscription, ...what };
    expect(describeSubscription(entry, () => 'acme').slice(0, 2)).toEqual([
      `subscription s: carrier order.created, ${stands}`,
      '  of account a (acme), client c, to https://a.test/',
    ]);
    expect(describeAccount(account, [entry])[1]).toBe(
      what.endedAt === undefined
        ? `  order.created, client c: ${stands}, to https://a.test/ (subscription s)`
        : '  no subscription',
    );
  });

  test('say of an account since when it is closed', () => {
    expect(describeAccount({ ...account, closedAt: NINE }, [])[0]).toMatch(/, closed since 2026-11-20 09:00:00\.000$/);
  });

  test('say what happened to it, in order, and when it last succeeded', () => {
    const entry = { ...subscription, switches: [off, on], lastSuccessAt: NINE + 4_000, endedAt: NINE + 5_000 };
    expect(describeSubscription(entry, nameOf).slice(2)).toEqual([
      '  2026-11-20 09:00:00.000  subscribed',
      '  2026-11-20 09:00:02.000  switched off (all deliveries failed for too long)',
      '  2026-11-20 09:00:03.000  switched on',
      '  2026-11-20 09:00:05.000  ended',
      '  2026-11-20 09:00:04.000  last success',
    ]);
  });

  test('say whose they are, which features there are, and how many have ended', () => {
    const ended = { ...subscription, endedAt: NINE };
    expect(describeAccount(account, [ended, subscription, ended])).toEqual([
      'account a (acme): carrier, features: insurance, escalation, since 2026-11-20 09:00:00.000',
      '  order.created, client c: on, to https://a.test/ (subscription s)',
      '  ended subscriptions: 2',
    ]);
    expect(describeAccount({ ...account, name: null, features: [] }, [])).toEqual([
      'account a: carrier, features: none, since 2026-11-20 09:00:00.000',
      '  no subscription',
    ]);
  });
});

describe('what a client missed of an action', () => {
  const missed: MissedOfAction = {
    action: 'order.created',
    subscription: 's',
    isActive: true,
    exhausted: 1,
    dropped: 20,
    suppressed: 300,
    gone: 4_000,
    reasons: [
      { reason: 'http_5xx', count: 1 },
      { reason: 'deactivated', count: 20 },
    ],
  };

  test('is told by kind and reason, and all that is kept can be replayed', () => {
    expect(describeMissed('c', missed)).toBe(
      'client c  order.created  1 given up, 20 dropped, 300 not sent, 4000 no longer kept  http_5xx 1, deactivated 20',
    );
    expect(replayable(missed)).toBe(321);
  });

  test('cannot be replayed without a subscription that is on', () => {
    const rest = { ...missed, gone: 0, reasons: [], isActive: false };
    const counts = 'client c  order.created  1 given up, 20 dropped, 300 not sent';
    expect(describeMissed('c', rest)).toBe(`${counts}  subscription s is switched off: switch it on before a replay`);
    expect(describeMissed('c', { ...rest, subscription: null })).toBe(
      `${counts}  not subscribed any more: nothing can be replayed`,
    );
    expect(replayable(rest)).toBe(0);
  });
});
