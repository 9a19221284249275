import { randomUUID } from 'node:crypto';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { createAccount } from './accounts.ts';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { subscribe } from '@waybell/runtime/testing/subscribe';
import { shared } from '@waybell/runtime/testing/shared';

type Message = { to: string; generation?: number; delivery?: string; delivered?: boolean; ended: number };
type Rules = { exhausted?: string[]; window?: string[]; windowS?: number };

const store = shared(() => createTestDatabase());
let shipper: string;
let carrier: string;
let now: number;

beforeAll(async () => {
  shipper = (await createAccount(store.postgres, { interface: 'shipper' })).guid;
  carrier = (await createAccount(store.postgres, { interface: 'carrier' })).guid;
});

// Times are seconds from the beginning of each test: those of a window would pass while earlier ones run.
beforeEach(async () => {
  now = wallClockMs();
  await store.postgres.query(
    'delete from waybell.subscriptions; delete from waybell.deactivations; delete from waybell.due_deactivations',
  );
});

/** Times are seconds from now; the past is negative. */
const at = (seconds: number) => new Date(now + seconds * 1_000);
const DAY_S = 86_400;

function aSubscription(given: { interface?: 'shipper'; generation?: number; client?: string } = {}): Promise<string> {
  const guid = randomUUID();
  const account = given.interface === 'shipper' ? shipper : carrier;
  return subscribe(store.postgres, { guid, account, action: `a.${guid}`, ...given });
}

/** Resolves with what was switched off and not told yet; it is told then. */
async function settle(messages: Message[], rules: Rules = {}): Promise<{ guid: string; rule: string }[]> {
  await store.postgres.query('select waybell.note_ends($1, $2, $3, $4, $5, $6)', [
    messages.map(({ to }) => to),
    messages.map(({ generation = 1 }) => generation),
    messages.map(({ delivery = randomUUID() }) => delivery),
    messages.map(({ delivered = false }) => delivered),
    messages.map(({ ended }) => at(ended)),
    rules.exhausted ?? [],
  ]);
  await store.postgres.query(`select waybell.switch_off($1, $2, make_interval(secs => $3), '0 s', 0, 0)`, [
    rules.exhausted ?? [],
    rules.window ?? [],
    rules.windowS ?? DAY_S,
  ]);
  const { rows } = await store.postgres.query('delete from waybell.deactivations returning subscription as guid, rule');
  return rows;
}

/** Returns the row, times in seconds from now. */
async function healthOf(guid: string) {
  const { rows } = await store.postgres.query('select * from waybell.subscriptions where guid = $1', [guid]);
  const [row] = rows;
  const seconds = (date: Date | null) => (date === null ? null : (date.getTime() - now) / 1_000);
  return {
    isActive: row.is_active,
    rule: row.deactivation_rule,
    by: row.deactivated_by,
    lastFailed: row.last_failed_delivery,
    failingSince: seconds(row.failing_since),
    lastSuccess: seconds(row.last_success_at),
    lastFailure: seconds(row.last_failure_at),
  };
}

const both = { exhausted: ['carrier'], window: ['carrier'] };

test('no rule applies to a listener, and how it fares is noted', async () => {
  const to = await aSubscription({ client: 'default listen' });
  expect(await settle([{ to, ended: -1 }], { ...both, windowS: 1 })).toEqual([]);
  await store.postgres.query("update waybell.subscriptions set failing_since = now() - interval '2 days'");
  expect(await settle([{ to, ended: 0 }], both)).toEqual([]);
  expect(await healthOf(to)).toMatchObject({ isActive: true, lastFailure: 0 });
});

describe('a subscription that is held', () => {
  const held = [
    ['paused', `update waybell.subscriptions set paused_until = now() + interval '1 hour' where guid = $1`],
    ['stopped', `update waybell.subscriptions set stopped_at = now(), stopped_reason = 'r' where guid = $1`],
    [
      'at a host that is stopped',
      `with stopped as (select waybell.host_of(callback_url) as host from waybell.subscriptions where guid = $1)
       insert into waybell.stopped_hosts (host, reason) select host, 'r' from stopped`,
    ],
  ] as const;

  test.each(held)('(%s) has no failure counted, and no run of failures that grows old', async (_, hold) => {
    const to = await aSubscription();
    await settle([{ to, ended: -2 * DAY_S }]);
    await store.postgres.query(
      `update waybell.subscriptions set failing_since = now() - interval '2 days', last_failure_at = now() where guid = $1`,
      [to],
    );
    await store.postgres.query(hold, [to]);
    expect(await settle([{ to, ended: 0 }], both)).toEqual([]);
    expect(await healthOf(to)).toMatchObject({ isActive: true, failingSince: null });
    expect(await settle([{ to, ended: 1, delivered: true }], both)).toEqual([]);
    expect(await healthOf(to)).toMatchObject({ lastSuccess: 1 });
    await store.postgres.query('delete from waybell.stopped_hosts');
  });

  test('has what fails counted again once it is not', async () => {
    const to = await aSubscription();
    await store.postgres.query(
      `update waybell.subscriptions set paused_until = now() - interval '1 second' where guid = $1`,
      [to],
    );
    expect(await settle([{ to, ended: -1 }], both)).toEqual([{ guid: to, rule: 'exhausted' }]);
  });
});

describe('end_gone', () => {
  const end = async (of: { to: string; generation?: number }[], interfaces = ['carrier']) => {
    const { rows } = await store.postgres.query('select subscription from waybell.end_gone($1, $2, $3)', [
      of.map(({ to }) => to),
      of.map(({ generation = 1 }) => generation),
      interfaces,
    ]);
    return rows.map(({ subscription }) => subscription);
  };

  test('ends a subscription once, and says why', async () => {
    const to = await aSubscription();
    expect(await end([{ to }, { to }])).toEqual([to]);
    expect(await end([{ to }])).toEqual([]);
    const { rows } = await store.postgres.query(
      'select is_active, ended_at is not null as is_ended, ended_reason from waybell.subscriptions where guid = $1',
      [to],
    );
    expect(rows).toEqual([{ is_active: false, is_ended: true, ended_reason: 'gone' }]);
  });

  test('ends nothing of another interface or generation, and nothing that is held', async () => {
    const [to, paused] = [await aSubscription({ generation: 2 }), await aSubscription()];
    await store.postgres.query(
      `update waybell.subscriptions set paused_until = now() + interval '1 hour' where guid = $1`,
      [paused],
    );
    expect(await end([{ to }, { to: paused }])).toEqual([]);
    expect(await end([{ to, generation: 2 }], ['shipper'])).toEqual([]);
  });
});

describe('the rule "exhausted"', () => {
  test('switches a subscription off at its first exhausted message, and says so once', async () => {
    const to = await aSubscription();
    expect(await settle([{ to, ended: -1 }], both)).toEqual([{ guid: to, rule: 'exhausted' }]);
    expect(await healthOf(to)).toMatchObject({ isActive: false, rule: 'exhausted' });
    expect(await settle([{ to, ended: -1 }], both)).toEqual([]);
  });

  test('says it once for a message that comes twice in one batch, or with others that failed', async () => {
    const to = await aSubscription();
    const batch = [
      { to, ended: -1 },
      { to, ended: -1 },
      { to, ended: -2 },
    ];
    expect(await settle(batch, both)).toEqual([{ guid: to, rule: 'exhausted' }]);
  });

  test('says everything of the row that went off', async () => {
    const to = await aSubscription({ generation: 3 });
    const delivery = randomUUID();
    await store.postgres.query(
      `select waybell.note_ends(array[$1::uuid], '{3}', array[$2::uuid], '{f}', array[now()], '{carrier}')`,
      [to, delivery],
    );
    const { rows: counted } = await store.postgres.query(
      `select * from waybell.switch_off('{carrier}', '{}', '1 day', '0 s', 0, 0)`,
    );
    expect(counted).toEqual([{ off: 1, held: 0 }]);
    const { rows } = await store.postgres.query(
      `select d.*, d.at = s.deactivated_at and d.at = s.changed_at as same, s.changed_at > s.created_at as moved
       from waybell.deactivations d join waybell.subscriptions s on s.guid = d.subscription where s.guid = $1`,
      [to],
    );
    const of = { subscription: to, generation: 3, account: carrier, client: 'default', interface: 'carrier' };
    const said = { ...of, action: `a.${to}`, rule: 'exhausted', delivery, at: expect.any(Date), claimed_until: null };
    expect(rows).toEqual([{ ...said, same: true, moved: true }]);
  });

  test('leaves a subscription on whose messages are delivered', async () => {
    const to = await aSubscription();
    expect(await settle([{ to, delivered: true, ended: -1 }], both)).toEqual([]);
    expect(await healthOf(to)).toMatchObject({ isActive: true, lastSuccess: -1, failingSince: null });
  });

  test('switches off although another message was delivered later', async () => {
    const to = await aSubscription();
    await settle([{ to, delivered: true, ended: -1 }], both);
    expect(await settle([{ to, ended: -5 }], both)).toEqual([{ guid: to, rule: 'exhausted' }]);
  });

  test('does nothing where it is off for the interface', async () => {
    const [ofCarrier, ofShipper] = [await aSubscription(), await aSubscription({ interface: 'shipper' })];
    const messages = [ofCarrier, ofShipper].map((to) => ({ to, ended: -1 }));
    expect(await settle(messages, { exhausted: ['shipper'] })).toEqual([{ guid: ofShipper, rule: 'exhausted' }]);
    expect(await settle(messages, {})).toEqual([]);
    expect(await healthOf(ofCarrier)).toMatchObject({ isActive: true, lastFailure: -1 });
  });

  test.each([1, 3])('takes no message of generation %i for a subscription at generation 2', async (generation) => {
    const to = await aSubscription({ generation: 2 });
    expect(await settle([{ to, generation, ended: -1 }], both)).toEqual([]);
    expect(await healthOf(to)).toMatchObject({ isActive: true, failingSince: null, lastFailure: null });
  });

  test('tells the generations in one batch apart', async () => {
    const to = await aSubscription({ generation: 2 });
    const batch = [
      { to, generation: 1, ended: -1 },
      { to, generation: 2, delivered: true, ended: -2 },
    ];
    expect(await settle(batch, both)).toEqual([]);
    expect(await healthOf(to)).toMatchObject({ isActive: true, lastSuccess: -2, lastFailure: null });
  });

  test('takes nothing for a subscription that ended, or that is unknown', async () => {
    const to = await aSubscription();
    await store.postgres.query('update waybell.subscriptions set is_active = false, ended_at = now()');
    expect(
      await settle(
        [
          { to, ended: -1 },
          { to: randomUUID(), ended: -1 },
        ],
        both,
      ),
    ).toEqual([]);
  });
});

describe('the delivery that switched a subscription off', () => {
  const [first = '', second = '', third = ''] = Array.from({ length: 3 }, () => randomUUID()).toSorted();

  test('is the one of a batch that ended last, by the rule "exhausted"', async () => {
    const to = await aSubscription();
    const batch = [
      { to, delivery: second, ended: -1 },
      { to, delivery: third, ended: -2 },
      { to, delivery: first, delivered: true, ended: -0.5 },
    ];
    await settle(batch, both);
    expect(await healthOf(to)).toMatchObject({ by: second, lastFailed: second });
  });

  test('is one that exhausted its attempts, though another that the rule did not count failed later', async () => {
    const to = await aSubscription();
    await settle([{ to, delivery: first, ended: -1 }]);
    await settle([{ to, delivery: second, ended: -5 }], both);
    expect(await healthOf(to)).toMatchObject({ by: second, lastFailed: first });
  });

  test('is the last that failed, by the rule "window", in whatever order they came', async () => {
    const window = { window: ['carrier'], windowS: 10_000 };
    for (const order of [
      [first, second, third],
      [third, first, second],
      [third, second, first],
    ]) {
      const to = await failingSince(-11_000);
      const endOf = (delivery: string) => (delivery === first ? -3_000 : -1_000);
      for (const delivery of order) await settle([{ to, delivery, ended: endOf(delivery) }]);
      expect(await settle([], window)).toEqual([{ guid: to, rule: 'window' }]);
      expect(await healthOf(to)).toMatchObject({ by: third, lastFailed: third });
    }
  });

  test('stays the same, whatever comes again or late', async () => {
    const to = await aSubscription();
    await settle([{ to, delivery: first, ended: -5 }], both);
    for (const delivery of [first, second]) await settle([{ to, delivery, ended: -1 }], both);
    expect(await healthOf(to)).toMatchObject({ by: first, lastFailed: first });
  });
});

/** Has it fail since then, as if that had been noted at the time. */
async function failingSince(seconds: number): Promise<string> {
  const to = await aSubscription();
  await store.postgres.query(
    'update waybell.subscriptions set failing_since = $2, last_failure_at = $2 where guid = $1',
    [to, at(seconds)],
  );
  return to;
}

async function untilSomebodyWaits(): Promise<void> {
  const waiting = `select from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`;
  while ((await store.postgres.query(waiting, [store.name])).rowCount === 0) await Promise.resolve();
}

describe('the health of a subscription', () => {
  const success = (ended: number) => ({ delivered: true, ended });
  const failure = (ended: number) => ({ ended });
  // Some time in the test, however slow it is, and not when the failure was.
  const noted = expect.closeTo(0, -5);
  const cases: [name: string, messages: Omit<Message, 'to'>[], health: object][] = [
    ['a failure begins a run when it is noted', [failure(-900_000)], { failingSince: noted, lastFailure: -900_000 }],
    ['the last failure counts', [failure(-13), failure(-2)], { failingSince: noted, lastFailure: -2 }],
    ['a success ends a run', [failure(-2), success(-1)], { failingSince: null, lastSuccess: -1 }],
    ['an earlier success does not', [failure(-2), success(-5)], { failingSince: noted, lastSuccess: -5 }],
    ['a failure before the last success is none', [failure(-83), success(-80)], { failingSince: null }],
    ['of several successes the last counts', [failure(-1), success(-4_000), success(-9_000)], { lastSuccess: -4_000 }],
  ];
  const permutations = <T>(all: T[]): T[][] =>
    all.length < 2 ? [all] : all.flatMap((one, i) => permutations(all.toSpliced(i, 1)).map((rest) => [one, ...rest]));

  test.each(cases)('%s, in any order, batch or repetition', async (_name, messages, expected) => {
    for (const order of permutations(messages)) {
      const [oneByOne, atOnce, twice] = [await aSubscription(), await aSubscription(), await aSubscription()];
      for (const message of order) await settle([{ to: oneByOne, ...message }]);
      await settle(order.map((message) => ({ to: atOnce, ...message })));
      for (const message of [...order, ...order])
        await settle([
          { to: twice, ...message },
          { to: twice, ...message },
        ]);
      for (const guid of [oneByOne, atOnce, twice]) expect(await healthOf(guid)).toMatchObject(expected);
    }
  });

  test('is that of a run that begins once: later failures, and those that come again, leave its beginning', async () => {
    const to = await failingSince(-900);
    await settle([{ to, ...failure(-890) }]);
    await settle([{ to, ...failure(-1) }]);
    await settle([{ to, ...failure(-890) }]);
    expect(await healthOf(to)).toMatchObject({ failingSince: -900, lastFailure: -1 });
  });

  test('is that of a run that starts over where a late success cut it in two', async () => {
    const to = await failingSince(-900);
    await settle([{ to, ...failure(-690) }]);
    await settle([{ to, ...success(-800) }]);
    expect(await healthOf(to)).toMatchObject({ failingSince: -800, lastSuccess: -800, lastFailure: -690 });
  });

  test('counts a run from no time before its last success, though the clock of a deliverer is ahead', async () => {
    const to = await aSubscription();
    await settle([{ to, ...success(500) }]);
    await settle([{ to, ...failure(501) }]);
    expect(await healthOf(to)).toMatchObject({ failingSince: 500, lastSuccess: 500 });
  });

  test('counts a run from when it was noted, not from when a lock was asked for', async () => {
    const to = await aSubscription();
    const connection = await store.postgres.connect();
    await connection.query('begin');
    await connection.query('update waybell.subscriptions set changed_at = now() where guid = $1', [to]);
    const settling = settle([{ to, ...failure(-1) }]);
    await untilSomebodyWaits();
    const { rows } = await connection.query('select clock_timestamp() as waited');
    await connection.query('commit');
    connection.release();
    await settling;
    const { rows: found } = await store.postgres.query(
      'select failing_since > $2 as "isLater" from waybell.subscriptions where guid = $1',
      [to, rows[0].waited],
    );
    expect(found).toEqual([{ isLater: true }]);
  });

  test('of a healthy subscription is not written for every success, and is at most an hour old', async () => {
    const to = await aSubscription();
    await settle([{ to, ...success(-7_200) }]);
    const before = await version(to);
    await settle([
      { to, ...success(-5_000) },
      { to, ...success(-3_600) },
    ]);
    expect(await version(to)).toBe(before);
    await settle([{ to, ...success(-3_599) }]);
    expect(await healthOf(to)).toMatchObject({ lastSuccess: -3_599 });
  });

  async function version(guid: string): Promise<string> {
    const { rows } = await store.postgres.query('select xmin, xmax, ctid from waybell.subscriptions where guid = $1', [
      guid,
    ]);
    return JSON.stringify(rows);
  }
});

describe('the rule "window"', () => {
  // Long beside the test itself, however slow: what is just within it at first is to be so still in the end.
  const window = { window: ['carrier'], windowS: 10_000 };

  test('switches off when all failed for the whole window, the last of them within it', async () => {
    const [young, old] = [await failingSince(-9_000), await failingSince(-11_000)];
    expect(await settle([{ to: young, ended: -8_000 }], window)).toEqual([]);
    expect(await settle([{ to: old, ended: -1_000 }], window)).toEqual([{ guid: old, rule: 'window' }]);
    expect(await healthOf(old)).toMatchObject({ isActive: false, rule: 'window' });
  });

  test('counts from when the first failure was noted, however long ago that was', async () => {
    const to = await aSubscription();
    expect(await settle([{ to, ended: -20_000 }], window)).toEqual([]);
    expect(await settle([{ to, ended: -1 }], window)).toEqual([]);
  });

  test('applies to all subscriptions, also those without a message: the sweep', async () => {
    const to = await failingSince(-15_000);
    await settle([{ to, ended: -1_000 }]);
    expect(await settle([], { ...window, window: ['shipper'] })).toEqual([]);
    expect(await settle([], { ...window, windowS: 20_000 })).toEqual([]);
    expect(await settle([], window)).toEqual([{ guid: to, rule: 'window' }]);
    expect(await settle([], window)).toEqual([]);
  });

  test('needs a message within the window', async () => {
    const to = await failingSince(-30_000);
    expect(await settle([{ to, ended: -15_000 }], window)).toEqual([]);
    expect(await settle([{ to, ended: -2_000 }], window)).toEqual([{ guid: to, rule: 'window' }]);
  });

  test('waits for one success within the window to grow old', async () => {
    const to = await failingSince(-30_000);
    const messages = [
      { to, delivered: true, ended: -5_000 },
      { to, ended: -1_000 },
    ];
    expect(await settle(messages, window)).toEqual([]);
    expect(await healthOf(to)).toMatchObject({ failingSince: -5_000 });
    expect(await settle([], { ...window, windowS: 4_000 })).toEqual([{ guid: to, rule: 'window' }]);
  });

  test('does nothing where it is off, and "exhausted" comes first where both apply', async () => {
    const to = await failingSince(-15_000);
    const messages = [{ to, ended: -1_000 }];
    expect(await settle(messages, { windowS: 10_000 })).toEqual([]);
    expect(await settle(messages, { ...both, windowS: 10_000 })).toEqual([{ guid: to, rule: 'exhausted' }]);
  });
});

describe('note_ends', () => {
  test('refuses arrays that differ in length', async () => {
    const call = `select waybell.note_ends(array[gen_random_uuid()], '{}', '{}', '{}', '{}', '{}')`;
    await expect(store.postgres.query(call)).rejects.toThrow('differ in length');
  });

  test('names each subscription once when replicas settle the same messages in any order at once', async () => {
    const guids = await Promise.all(Array.from({ length: 30 }, () => aSubscription()));
    const messages = guids.flatMap((to) => [
      { to, ended: -200 },
      { to, ended: -1 },
    ]);
    const shuffled = Array.from({ length: 8 }, (_, i) =>
      messages.toSorted((a, b) => ((i % 2) - 0.5) * a.to.localeCompare(b.to)),
    );
    const found = await Promise.all(shuffled.map((batch) => settle(batch, both)));
    expect(
      found
        .flat()
        .map(({ guid }) => guid)
        .toSorted(),
    ).toEqual(guids.toSorted());
  });

  test('names each subscription once when several sweep at once', async () => {
    const guids = await Promise.all(Array.from({ length: 30 }, () => failingSince(-20_000)));
    await settle(guids.map((to) => ({ to, ended: -1 })));
    const found = await Promise.all(
      Array.from({ length: 8 }, () => settle([], { window: ['carrier'], windowS: 10_000 })),
    );
    expect(
      found
        .flat()
        .map(({ guid }) => guid)
        .toSorted(),
    ).toEqual(guids.toSorted());
  });

  test('counts every failure of concurrent calls', async () => {
    const to = await aSubscription();
    await Promise.all(Array.from({ length: 8 }, (_, i) => settle([{ to, ended: -50 + i }])));
    expect(await healthOf(to)).toMatchObject({ lastFailure: -43 });
  });

  test('touches nothing that was subscribed again while it waited', async () => {
    const to = await aSubscription();
    const connection = await store.postgres.connect();
    await connection.query('begin');
    await connection.query('update waybell.subscriptions set generation = 2 where guid = $1', [to]);
    const settling = settle([{ to, ended: -1 }], both);
    await untilSomebodyWaits();
    await connection.query('commit');
    connection.release();
    expect(await settling).toEqual([]);
    expect(await healthOf(to)).toMatchObject({ isActive: true, failingSince: null });
  });
});
