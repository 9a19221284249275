import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { createAccount } from './accounts.ts';
import { createTestDatabase, type TestDatabase } from './testing/database.ts';

type Message = { to: string; generation?: number; delivered?: boolean; began?: number; ended: number };
type Rules = { exhausted?: string[]; window?: string[]; windowS?: number };

let store: TestDatabase;
let shipper: string;
let carrier: string;
let now: number;

beforeAll(async () => {
  store = await createTestDatabase();
  shipper = (await createAccount(store.postgres, { interface: 'shipper' })).guid;
  carrier = (await createAccount(store.postgres, { interface: 'carrier' })).guid;
});

// Times are seconds from the beginning of each test: those of a window would pass while earlier ones run.
beforeEach(async () => {
  now = wallClockMs();
  await store.postgres.query('delete from waybell.subscriptions');
});

afterAll(async () => {
  await store[Symbol.asyncDispose]();
});

/** Times are seconds from now; the past is negative. */
const at = (seconds: number) => new Date(now + seconds * 1_000);
const DAY_S = 86_400;

async function aSubscription(given: { interface?: string; generation?: number } = {}): Promise<string> {
  const guid = randomUUID();
  const isShipper = given.interface === 'shipper';
  await store.postgres.query(
    `insert into waybell.subscriptions (guid, interface, account_guid, action, callback_url, generation,
       verification_token_sealed, verification_token_key_id) values ($1, $2, $3, $4, 'https://a.test', $5, '\\x00', 'k')`,
    [guid, isShipper ? 'shipper' : 'carrier', isShipper ? shipper : carrier, `a.${guid}`, given.generation ?? 1],
  );
  return guid;
}

async function settle(messages: Message[], rules: Rules = {}): Promise<{ guid: string; rule: string }[]> {
  const { rows } = await store.postgres.query(
    'select * from waybell.settle_deliveries($1, $2, $3, $4, $5, $6, $7, make_interval(secs => $8))',
    [
      messages.map(({ to }) => to),
      messages.map(({ generation = 1 }) => generation),
      messages.map(({ delivered = false }) => delivered),
      messages.map(({ began, ended }) => at(began ?? ended)),
      messages.map(({ ended }) => at(ended)),
      rules.exhausted ?? [],
      rules.window ?? [],
      rules.windowS ?? DAY_S,
    ],
  );
  return rows.map((row) => ({ guid: row.subscription_guid, rule: row.rule }));
}

/** What the row says, times in seconds from now. */
async function healthOf(guid: string) {
  const { rows } = await store.postgres.query('select * from waybell.subscriptions where guid = $1', [guid]);
  const [row] = rows;
  const seconds = (date: Date | null) => (date === null ? null : (date.getTime() - now) / 1_000);
  return {
    isActive: row.is_active,
    rule: row.deactivation_rule,
    failingSince: seconds(row.failing_since),
    lastSuccess: seconds(row.last_success_at),
    lastFailure: seconds(row.last_failure_at),
  };
}

const both = { exhausted: ['carrier'], window: ['carrier'] };

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
    const { rows } = await store.postgres.query(
      `select * from waybell.settle_deliveries(array[$1::uuid], '{3}', '{f}', array[now()], array[now()], '{carrier}', '{}', '1 day')`,
      [to],
    );
    expect(rows).toEqual([
      { subscription_guid: to, generation: 3, interface: 'carrier', action: `a.${to}`, rule: 'exhausted' },
    ]);
    const row = await store.postgres.query(
      'select deactivated_at = changed_at as same, changed_at > created_at as moved from waybell.subscriptions where guid = $1',
      [to],
    );
    expect(row.rows).toEqual([{ same: true, moved: true }]);
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
    expect(await healthOf(ofCarrier)).toMatchObject({ isActive: true, failingSince: -1 });
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

  test('takes nothing for a subscription that ended, or that nobody knows', async () => {
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

describe('the health of a subscription', () => {
  const success = (ended: number) => ({ delivered: true, ended });
  const failure = (began: number, ended: number) => ({ began, ended });
  const cases: [name: string, messages: Omit<Message, 'to'>[], health: object][] = [
    ['a failure begins a run', [failure(-9, -2)], { failingSince: -9, lastFailure: -2, lastSuccess: null }],
    [
      'a run begins with its first message',
      [failure(-20, -13), failure(-9, -2)],
      { failingSince: -20, lastFailure: -2 },
    ],
    ['a success ends a run', [failure(-9, -2), success(-1)], { failingSince: null, lastSuccess: -1 }],
    ['a run begins after the last success', [failure(-9, -2), success(-5)], { failingSince: -5, lastSuccess: -5 }],
    [
      'a failure before the last success is none',
      [failure(-90, -83), success(-80)],
      { failingSince: null, lastSuccess: -80 },
    ],
    ['of several successes the last counts', [success(-200), success(-90), success(-300)], { lastSuccess: -90 }],
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

  test('takes a run that a late success cut in two to begin at that success', async () => {
    const to = await aSubscription();
    await settle([
      { to, ...failure(-900, -890) },
      { to, ...failure(-700, -690) },
    ]);
    await settle([{ to, ...success(-800) }]);
    expect(await healthOf(to)).toMatchObject({ failingSince: -800, lastSuccess: -800, lastFailure: -690 });
  });

  test('of a healthy subscription is not written for every success, and is at most a minute old', async () => {
    const to = await aSubscription();
    await settle([{ to, ...success(-600) }]);
    const before = await version(to);
    await settle([
      { to, ...success(-560) },
      { to, ...success(-545) },
    ]);
    expect(await version(to)).toBe(before);
    await settle([{ to, ...success(-530) }]);
    expect(await healthOf(to)).toMatchObject({ lastSuccess: -530 });
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
    const to = await aSubscription();
    expect(await settle([{ to, began: -9_000, ended: -8_000 }], window)).toEqual([]);
    expect(
      await settle(
        [
          { to, began: -11_000, ended: -9_900 },
          { to, ended: -1_000 },
        ],
        window,
      ),
    ).toEqual([{ guid: to, rule: 'window' }]);
    expect(await healthOf(to)).toMatchObject({ isActive: false, rule: 'window' });
  });

  test('applies to all subscriptions, also those without a message: the sweep', async () => {
    const to = await aSubscription();
    await settle([
      { to, began: -15_000, ended: -14_000 },
      { to, ended: -1_000 },
    ]);
    expect(await settle([], { ...window, window: ['shipper'] })).toEqual([]);
    expect(await settle([], { ...window, windowS: 20_000 })).toEqual([]);
    expect(await settle([], window)).toEqual([{ guid: to, rule: 'window' }]);
    expect(await settle([], window)).toEqual([]);
  });

  test('needs a message within the window', async () => {
    const to = await aSubscription();
    expect(
      await settle(
        [
          { to, began: -30_000, ended: -29_000 },
          { to, ended: -15_000 },
        ],
        window,
      ),
    ).toEqual([]);
    expect(await settle([{ to, ended: -2_000 }], window)).toEqual([{ guid: to, rule: 'window' }]);
  });

  test('waits for one success within the window to grow old', async () => {
    const to = await aSubscription();
    const messages = [
      { to, began: -30_000, ended: -29_000 },
      { to, delivered: true, ended: -5_000 },
      { to, ended: -1_000 },
    ];
    expect(await settle(messages, window)).toEqual([]);
    expect(await settle([], { ...window, windowS: 4_000 })).toEqual([]);
    expect(await settle([], { ...window, windowS: 900 })).toEqual([]);
    expect(await healthOf(to)).toMatchObject({ failingSince: -1_000 });
  });

  test('does nothing where it is off, and "exhausted" comes first where both apply', async () => {
    const to = await aSubscription();
    const messages = [
      { to, began: -15_000, ended: -14_000 },
      { to, ended: -1_000 },
    ];
    expect(await settle(messages, { windowS: 10_000 })).toEqual([]);
    expect(await settle(messages, { ...both, windowS: 10_000 })).toEqual([{ guid: to, rule: 'exhausted' }]);
  });
});

describe('settle_deliveries', () => {
  test('refuses arrays that differ in length', async () => {
    const call = `select waybell.settle_deliveries(array[gen_random_uuid()], '{}', '{}', '{}', '{}', '{}', '{}', '1 day')`;
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
    const guids = await Promise.all(Array.from({ length: 30 }, () => aSubscription()));
    await settle(
      guids.flatMap((to) => [
        { to, began: -20_000, ended: -19_000 },
        { to, ended: -1 },
      ]),
    );
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
    await Promise.all(Array.from({ length: 8 }, (_, i) => settle([{ to, began: -100 - i, ended: -50 + i }])));
    expect(await healthOf(to)).toMatchObject({ failingSince: -107, lastFailure: -43 });
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

  async function untilSomebodyWaits(): Promise<void> {
    const waiting = `select from pg_stat_activity where datname = $1 and wait_event_type = 'Lock'`;
    while ((await store.postgres.query(waiting, [store.name])).rowCount === 0) await Promise.resolve();
  }
});
