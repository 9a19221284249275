import { describe, expect, test } from '@jest/globals';
import { callsOf, certificateEnd } from '../pages/credentials/credentials.ts';
import { phasesOf, standingOf } from '../pages/find/delivery.ts';
import { itemOfDelivery, readItem } from '../pages/live/feed-item.ts';
import { byUrgency, conditionOf } from '../pages/subscriptions/condition.ts';
import { asSentence, fieldOf, problemsWithText, textOfProblem, WAYS } from './problem-texts.ts';
import { dayOf, localOf, momentOf, periodOf, PRESETS, writtenDuration, writtenHere } from './time.ts';
import {
  BY_HAND,
  FEED,
  FILTERS,
  HEALTH,
  styleOf,
  PAUSES,
  REPLAYS,
  ruleInWords,
  SCOPES,
  statusWord,
  STRETCHES,
  WAITING,
} from './words.ts';

const DAY_MS = 86_400_000;

/** Kind, title, help and way on of each problem: no help is a recipe for a caller of the API. */
const PROBLEMS = `
unreachable | No connection | Waybell is not responding. Check your connection; this page keeps trying. |
too-many-requests | Too many requests | |
unavailable | Temporarily unavailable | |
internal-error | Something went wrong | The error was logged. Support finds it by the request under Details. |
request-timeout | Timed out | The request took too long. Try again. |
unauthenticated | Signed out | Sign in to continue. | sign-in
invalid-token | Signed out | Your access token expired or was revoked. | sign-in
other-interface | Wrong interface | Your access token is for the other interface. | sign-in
insufficient-scope | Not permitted | Your access token does not have the scope for this. | sign-in
invalid-body | Check your input | |
invalid-parameter | Check your input | |
body-too-large | Too large | The text is longer than Waybell accepts. |
unknown-path | Not available | This server does not offer it: its version may be another one. |
unknown-action | Unknown action | Waybell does not offer this action. | catalog
not-subscribed | Not subscribed | The subscription has ended. | subscriptions
unknown-delivery | Delivery not found | It belongs to another client, or the log no longer has it. | deliveries
unknown-replay | Replay not found | It belongs to another client, or the log no longer has it. |
unknown-credentials | No credentials for this host | They may have been removed already. | credentials
too-many-credentials | Too many hosts | Remove credentials that are no longer used. | credentials
unknown-account | Account not found | Waybell has no account with this guid. | accounts
unknown-client | Client not found | The account has no client with this id. | accounts
invalid-link | Link no longer valid | It was opened before or has expired. Ask for a new one. |
account-exists | Account exists | Another account has this guid. Choose another one, or leave it empty. |
account-closed | Account closed | Open it again on its page first. | accounts
unknown-token | Token not found | It may have been revoked already. |
nothing-known | Nothing found | Nothing in the log mentions it, or it is older than the log. |
no-longer-kept | No longer stored | The log does not reach back that far. |
feature-off | Feature not enabled | The account does not have the feature that this action needs. Ask the operator to enable it. |
under-way | Still in progress | Resend the delivery once its attempts are over. |
was-a-test | A test cannot be resent | Send a new test. | subscriptions
body-gone | Content no longer stored | Ask the platform to publish the event again. |
nothing-missed | Nothing missed | A replay may be sending it already. | subscriptions
switched-off | Subscription switched off | Switch it on first. | subscriptions
stopped | Stopped by the operator | Deliveries wait until the operator starts it. |
not-stopped | Not stopped | It has been started already. |
nobody-subscribed | No subscription | Subscribe to the action first. | subscriptions
already-subscribed | Already subscribed | Edit the subscription instead. | subscriptions
rotation-under-way | Rotation in progress | The old secret is still valid. |
unknown-rejected | No longer rejected | The message was published, retried or deleted meanwhile. | rejected
several-rejected | Several messages match | Choose one of them. | rejected
not-an-event | Not an event | It cannot be corrected: retry or delete it. |
rejected-taken | In use | Another request is reading the rejected messages. Try again shortly. |
no-broker | No access to RabbitMQ | Set ADMIN_AMQP_URL for this server. |
`;

describe('a problem', () => {
  const rows = PROBLEMS.trim()
    .split('\n')
    .map((line) => line.split('|').map((part) => part.trim()));

  test.each(rows)('%s is called "%s": %s (%s)', (kind = '', title, help, way) => {
    expect(textOfProblem(kind)).toEqual({ title, help, ...(way !== '' && { way }) });
  });

  test('is in this table where the page has words for it', () => {
    expect(problemsWithText).toEqual(rows.map(([kind]) => kind));
  });

  test('that the page does not know has no text, whatever it is called', () => {
    expect(['of-tomorrow', 'constructor', ''].map(textOfProblem)).toEqual([undefined, undefined, undefined]);
  });

  test('names each way on by its page', () => {
    for (const [page, link] of Object.entries(WAYS)) expect(link).toMatch(new RegExp(`^Open (the )?${page}$`));
  });

  test('names a field by the first step of its pointer, or by its parameter', () => {
    const fields = {
      '#/callback_url': 'URL',
      '#/actions/3': 'Actions',
      '#/audit_field_set/0': 'Fields',
      '#/per_second': 'Rate',
      since: 'From',
      until: 'Until',
      '#/expires_in': 'Expiry',
      '#/client_id': 'Client',
      '#/guid': 'Guid',
      '#/name': 'Name',
      '#/reason': 'Reason',
      '#/scopes/0': 'Scopes',
      '#/features': 'Features',
      host: 'Host',
      '#': undefined,
      '#/oauth2/token_url': undefined,
    };
    expect(Object.keys(fields).map(fieldOf)).toEqual(Object.values(fields));
  });

  test('tells a fault as a sentence', () => {
    expect(['is not https', 'names no host.', ''].map(asSentence)).toEqual(['Is not https.', 'Names no host.', '.']);
  });
});

describe('a status', () => {
  test.each([
    ['good ✓', 'active, changed, created, delivered, done, ready, running, valid'],
    ['retry ↻', 'failed, retrying'],
    ['bad ✕', 'exhausted, dropped, not known, not running, refused, rejected, shut, switched off'],
    ['bad ■', 'stopped'],
    ['neutral …', 'begun, open, waiting'],
    ['neutral ‖', 'paused, suspended'],
    ['neutral –', 'suppressed, notice, none, empty, ended, revoked, expired, of tomorrow'],
  ])('looks %s where it is one of %s', (look, names) => {
    for (const name of names.split(', ')) {
      const { tone, mark } = styleOf(name);
      expect(`${name}: ${tone} ${mark}`).toBe(`${name}: ${look}`);
    }
  });

  test('is called as the interface calls it, but for two', () => {
    const statuses = ['delivered', 'retrying', 'failed', 'waiting', 'exhausted', 'dropped', 'suppressed', 'notice'];
    const words = ['delivered', 'retrying', 'failed', 'waiting', 'given up', 'dropped', 'not sent', 'notice'];
    expect(statuses.map(statusWord)).toEqual(words);
  });

  test('is that it waits, whichever attempt is due', () => {
    expect(standingOf({ status: 'retrying' })).toBe('retrying');
    expect(standingOf({ status: 'retrying', waiting: { why: 'hung', since: '2026-11-20T09:30:00Z' } })).toBe('waiting');
  });
});

describe('words', () => {
  test('say why deliveries wait, each its own and none what another says', () => {
    const sayings = {
      full: /takes no more|limit/,
      hung: /not answer/,
      busy: /429 or 503/,
      paused: /paused by/,
      stopped: /stopped by/,
      egress: /no way out/,
      open: /under way/,
    };
    const said = Object.entries(WAITING).flatMap(([why, texts]) => texts.map((text) => [why, text] as const));
    const meant = said.map(([, text]) =>
      Object.entries(sayings).flatMap(([why, like]) => (like.test(text) ? why : [])),
    );
    expect(meant).toEqual(said.map(([why]) => [why]));
    for (const [toClient, toOperators] of Object.values(WAITING)) {
      expect(toClient).toMatch(/^(its|a request of it|Waybell's own)/);
      expect(toOperators).not.toMatch(/\bits (endpoint|subscription)\b|\.$/);
    }
  });

  test('say what became of deliveries, why a subscription is off, how the feed stands, what was asked for by hand', () => {
    expect(HEALTH).toEqual({
      delivered: 'delivered',
      retried: 'retried',
      given_up: 'given up',
      suppressed: 'not sent',
    });
    expect(HEALTH.given_up).toBe(statusWord('exhausted'));
    expect(HEALTH.suppressed).toBe(statusWord('suppressed'));
    const rules = ['exhausted', 'window', 'of tomorrow'];
    const reasons = ['a delivery was given up', 'all attempts failed for too long', 'of tomorrow'];
    expect(rules.map(ruleInWords)).toEqual(reasons);
    expect(FEED).toEqual({ connecting: 'Connecting …', live: 'Live', broken: 'Interrupted' });
    expect(BY_HAND).toEqual({ resend: 'Resend', test: 'Test' });
  });

  test('name filters as they are called, but for the ends of a period', () => {
    for (const [name, word] of Object.entries(FILTERS)) {
      const called = { since: 'from', until: 'to' }[name] ?? name;
      expect(word.toLowerCase()).toBe(called);
    }
  });

  test('say what each scope permits', () => {
    expect(SCOPES['webhooks:read']).toMatch(/^see /);
    expect(SCOPES['webhooks:write']).toMatch(/^change .*resend/);
    expect(SCOPES.admin).toContain('operators');
  });

  test('say how long something is', () => {
    const unitMs = { minute: 60_000, hour: 3_600_000, day: DAY_MS };
    const lengthOf = (text: string) => {
      const [, count = '1', unit = ''] = /^(?:Last )?(?:(\d+) )?(minute|hour|day)s?$/.exec(text) ?? [];
      // Such units alone match.
      return Number(count) * unitMs[unit as keyof typeof unitMs];
    };
    for (const lengths of [PAUSES, REPLAYS, STRETCHES])
      expect(Object.keys(lengths).map(lengthOf)).toEqual(Object.values(lengths));
  });

  test('say when a certificate ends, marked from thirty days before', () => {
    const days = [40.5, 30, 29.9, 1.5, 0.5, 0, -0.5, -1.5, -2.5].map((each) => certificateEnd(each * DAY_MS));
    expect(days.map(({ isMarked, words, more }) => `${isMarked ? '! ' : ''}${words}${more}`)).toEqual([
      'Expires in 40 days',
      'Expires in 30 days',
      '! Expires in 29 days: replace it before then',
      '! Expires in 1 day: replace it before then',
      '! Expires in less than a day: replace it before then',
      '! Expired less than a day ago: receivers refuse it',
      '! Expired less than a day ago: receivers refuse it',
      '! Expired 1 day ago: receivers refuse it',
      '! Expired 2 days ago: receivers refuse it',
    ]);
  });

  test('say how many subscriptions use credentials', () => {
    const called = [0, 1, 2_000].map((subscriptions) => callsOf({ subscriptions } as Parameters<typeof callsOf>[0]));
    expect(called).toEqual(['not used by any subscription', 'used by 1 subscription', 'used by 2,000 subscriptions']);
  });
});

describe('a subscription', () => {
  const subscription = (what: object) => ({ is_active: true, ...what }) as Parameters<typeof conditionOf>[0];
  const at = '2026-11-20T09:30:00Z';
  /** Their makings, the most urgent first. */
  const causes = [
    ['stopped', { stopped: { at, reason: 'moved' } }],
    ['switched off', { is_active: false }],
    ['missed', { missed: { since: at, until: at } }],
    ['suspended', { suspension: { feature: 'insurance' } }],
    ['paused', { paused_until: at }],
  ] as const;

  test('stands as the most urgent of what is the case says', () => {
    for (const [place, [condition, cause]] of causes.entries()) {
      const others = causes.slice(place).map(([, other]) => other);
      expect(conditionOf(subscription(cause), { waiting: 0, retrying: 0 })).toBe(condition);
      expect(conditionOf(subscription(Object.assign({}, ...others)), { waiting: 3, retrying: 3 })).toBe(condition);
    }
  });

  test.each([
    [1, 1, 'waiting'],
    [1, undefined, 'waiting'],
    [0, 1, 'retrying'],
    [undefined, 1, 'retrying'],
    [0, undefined, 'not known yet'],
    [undefined, 0, 'not known yet'],
    [0, 0, 'active'],
  ])('of which %s deliveries wait and %s are tried again is %s', (waiting, retrying, condition) => {
    expect(conditionOf(subscription({}), { waiting, retrying })).toBe(condition);
  });

  test('that lacks nothing is active', () => {
    const missed = { since: at, until: at, count: 0 };
    expect(conditionOf(subscription({ missed }), { waiting: 0, retrying: 0 })).toBe('active');
  });

  test('comes before those that can wait longer', () => {
    const urgent = [
      ...causes.map(([condition]) => condition),
      'waiting',
      'retrying',
      'not known yet',
      'active',
    ] as const;
    expect(urgent.toReversed().toSorted(byUrgency)).toEqual(urgent);
  });
});

describe('what happened', () => {
  const keys = [{ kind: 'order_number', key: 'WB-1' }] as never;
  const attempt = { at: '2026-11-20T09:30:02Z', attempt: 3, duration_ms: 42, http_status: 503, reason: 'http_5xx' };

  test('is told of an attempt by its own figures', () => {
    const data = {
      action: 'order.created',
      event_guid: 'e',
      delivery_guid: 'd',
      keys,
      attempt: { ...attempt, kind: 'failed' },
    };
    expect(readItem({ event: 'attempt', data: JSON.stringify(data) }, 7)).toEqual({
      place: 7,
      at: attempt.at,
      action: 'order.created',
      keys,
      result: 'failed',
      notice: undefined,
      reason: 'http_5xx',
      httpStatus: 503,
      durationMs: 42,
      attempt: 3,
      eventGuid: 'e',
      deliveryGuid: 'd',
    });
  });

  test.each([
    [
      'suppressed',
      { at: '1', action: 'a', cause: 'switched_off', reason: 'no_subscription' },
      ['1', 'a', 'suppressed', 'switched_off'],
    ],
    [
      'notice',
      { at: '1', action: null, callback_url: 'u', kind: 'k', reason: 'r', status: 500 },
      ['1', 'u', 'notice', 'r', 'k', 500],
    ],
    ['notice', { at: '1', action: null, host: 'h', kind: 'k', ends_at: 'then' }, ['1', 'h', 'notice', 'then', 'k']],
    ['attempt', { at: '1', action: 'a' }, ['1', 'a', 'attempt']],
    ['skipped', { at: '1', action: 'a' }, undefined],
  ])('is told of %s %j by %j', (event, data, answerOf) => {
    const item = readItem({ event, data: JSON.stringify(data) }, 1);
    const figures = item && [item.at, item.action, item.result, item.reason, item.notice, item.httpStatus];
    expect(figures?.filter((each) => each !== undefined)).toEqual(answerOf);
  });

  test('before is told by the last attempt, or by how the delivery stands', () => {
    const delivery = {
      guid: 'd',
      event_guid: 'e',
      action: 'a',
      keys,
      at: '1',
      status: 'dropped',
      reason: 'unsubscribed',
    };
    const answerOf = (attempts: object[]) => itemOfDelivery({ ...delivery, attempts } as never, -4);
    expect(answerOf([])).toMatchObject({
      place: -4,
      at: '1',
      result: 'dropped',
      reason: 'unsubscribed',
      deliveryGuid: 'd',
      eventGuid: 'e',
    });
    const [first, last] = [
      { ...attempt, at: '2', attempt: 1, kind: 'failed' },
      { ...attempt, kind: 'exhausted' },
    ];
    expect(answerOf([first, last])).toMatchObject({
      at: attempt.at,
      result: 'exhausted',
      attempt: 3,
      httpStatus: 503,
      durationMs: 42,
    });
  });

  test('in an attempt is told phase by phase', () => {
    const phases = (what: object) => phasesOf(what as never, 100).map(({ name, ms, shade }) => [name, ms, shade]);
    expect(phases({ dns_ms: 1, connect_ms: 2, tls_ms: 5, first_byte_ms: 40 })).toEqual([
      ['DNS', 1, 0],
      ['connect', 2, 1],
      ['TLS', 5, 2],
      ['waiting (TTFB)', 32, 3],
      ['response', 60, 4],
    ]);
    expect(phases({ connect_ms: 3 })).toEqual([
      ['connect', 3, 1],
      ['waiting (TTFB)', 97, 3],
    ]);
  });
});

describe('a time', () => {
  const now = new Date(2026, 2, 30, 12, 30);
  const midnight = (day: number) => new Date(2026, 2, day).toISOString();

  test.each([
    ['Last hour', { since: new Date(+now - DAY_MS / 24).toISOString() }],
    ['Last 24 hours', { since: new Date(+now - DAY_MS).toISOString() }],
    ['Today', { since: midnight(30) }],
    ['Yesterday', { since: midnight(29), until: midnight(30) }],
    ['Last 7 days', { since: new Date(+now - 7 * DAY_MS).toISOString() }],
  ] as const)('of the period %s is %j', (preset, period) => {
    expect(PRESETS).toContain(preset);
    expect(periodOf(preset, now)).toEqual(period);
  });

  test('of a day is from its midnight to the next', () => {
    expect(dayOf('2026-03-31')).toEqual({ since: midnight(31), until: midnight(32) });
  });

  test('goes into a field and out of it', () => {
    expect(localOf(now.toISOString())).toBe('2026-03-30T12:30');
    expect(momentOf('2026-03-30T12:30')).toBe(now.toISOString());
    expect(momentOf('')).toBeUndefined();
  });

  test('has its year where that is another one than now', () => {
    const written = (at: Date) => writtenHere(at.toISOString(), now);
    expect(written(new Date(2026, 0, 2))).not.toContain('2026');
    expect(written(new Date(2025, 0, 2))).toContain('2025');
  });

  test.each([
    [0, '0 ms'],
    [999, '999 ms'],
    [1_000, '1.0 s'],
    [9_949, '9.9 s'],
    [10_000, '10 s'],
    [99_999, '100 s'],
    [100_000, '2 min'],
    [7_199_999, '120 min'],
    [7_200_000, '2 h'],
    [3 * DAY_MS, '72 h'],
  ])('of %d ms is written %s', (ms, written) => expect(writtenDuration(ms)).toBe(written));
});
