import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { failingOrigins, oldestUndelivered } from '@waybell/delivery-log/read/failing';
import { findDeliveries } from '@waybell/delivery-log/read/find-deliveries';
import { forget } from '@waybell/delivery-log/forget';
import { deliveryHistory, eventHistory, timelineOf } from '@waybell/delivery-log/read/history';
import { askForResend } from '@waybell/subscription-api/by-hand/ask';
import { countReplay } from '@waybell/subscription-api/by-hand/replays';
import { DELIVERY_STATUSES, type ClientReader } from '@waybell/delivery-log/read/entries';
import type { Attempted, Delivered, Outcome, Routed } from '@waybell/line/outcomes';
import { createAccount } from '@waybell/subscription-api/accounts';
import { aDelivered, aDropped, aFailed, anExhausted, aRouted, DAY_MS, LogStand, START } from './log-stand.ts';

let stand: LogStand;
let apart: LogStand;
beforeAll(async () => {
  [stand, apart] = await Promise.all([LogStand.start(), LogStand.start()]);
});
afterAll(() => Promise.all([stand?.[Symbol.asyncDispose](), apart?.[Symbol.asyncDispose]()]));

/** What a router and a deliverer say of one delivery that gets through at once. */
function aSuccess(what: Partial<Delivered> = {}, of: Partial<Routed> = {}): [Routed, Delivered] {
  const answer = { durationMs: 12, status: 200, url: 'https://a.test/hook', ip: '203.0.113.7', body: 'ok' };
  const delivered = aDelivered({ at: START + 20, answer, ...what });
  const { delivery, subscription, event } = delivered;
  const addressed = { delivery, subscription, account: subscription, client: 'default' };
  return [aRouted({ event, deliveries: [addressed], ...of }), delivered];
}

const ownRows = (delivery: string) =>
  stand.rows<{ kind: string }>('select kind from delivery_log.attempts where delivery = $1', [delivery]);
const told = (delivery: string) =>
  stand.rows('select at, attempt, kind, http_status, answer from delivery_log.all_attempts where delivery = $1', [
    delivery,
  ]);
const once = ({ at }: Delivered) => [
  { at: new Date(at), attempt: 1, kind: 'delivered', http_status: 200, answer: 'ok' },
];

describe('a first attempt that succeeds', () => {
  test.each([
    ['together, in this order', (records: Outcome[]) => stand.write(records)],
    ['together, in the other order', (records: Outcome[]) => stand.write(records.toReversed())],
    ['in two batches', (records: Outcome[]) => Promise.all(records.map((record) => stand.write([record])))],
  ])('lies in the row of its delivery, where their records come %s', async (_, write) => {
    const [routed, delivered] = aSuccess();
    await write([routed, delivered]);
    expect(await ownRows(delivered.delivery)).toEqual([]);
    expect(await told(delivered.delivery)).toEqual(once(delivered));
  });

  test('lies there whichever other deliveries its event caused', async () => {
    const [routed, delivered] = aSuccess();
    const [other, failed] = [aDelivered(), aFailed()];
    const deliveries = [
      ...routed.deliveries,
      ...aSuccess(other)[0].deliveries,
      ...aSuccess({ delivery: failed.delivery })[0].deliveries,
    ];
    await stand.write([{ ...routed, deliveries }, failed, delivered]);
    expect(await ownRows(delivered.delivery)).toEqual([]);
    expect(await ownRows(failed.delivery)).toEqual([{ kind: 'failed' }]);
    expect(await told(other.delivery)).toEqual([]);
  });

  test.each<[string, Partial<Delivered>]>([
    ['is not the first', { attempt: 2 }],
    ['was made by hand', { byHand: 'test' }],
    ['was parked before', { parked: 'full' }],
    ['ended more than a minute after', { at: START + 60_000 }],
    ['went to another subscription', { subscription: '5b1e0b1c-7c0e-4d5a-9d2f-3f1f0c8f3a11' }],
  ])('has a row of its own, where it %s', async (_, what) => {
    const [routed, delivered] = aSuccess();
    const { delivery } = delivered;
    await stand.write([routed, { ...delivered, ...what }]);
    expect(await ownRows(delivery)).toHaveLength(1);
    expect(await told(delivery)).toHaveLength(1);
  });

  test.each([
    ['the verdict', 0],
    ['the attempt', 1],
  ])('has a row of its own, where the record of %s may be written already', async (_, again) => {
    const records = aSuccess();
    await Promise.all(records.map((record, place) => stand.write([record], { isRepeat: place === again })));
    expect(await ownRows(records[1].delivery)).toHaveLength(1);
    expect(await told(records[1].delivery)).toEqual(once(records[1]));
  });

  test.each<[string, (of: [Routed, Delivered]) => Outcome[][]]>([
    ['the row of its delivery is there already', ([routed, delivered]) => [[routed], [routed, delivered]]],
    ['its record came first', ([routed, delivered]) => [[delivered], [routed]]],
    [
      'both came again',
      ([routed, delivered]) => [
        [routed, delivered],
        [routed, delivered],
      ],
    ],
    ['it came again, alone', ([routed, delivered]) => [[routed, delivered], [delivered]]],
    ['both came again, when it was alone before', ([routed, delivered]) => [[delivered], [routed, delivered]]],
    [
      'its event was routed twice, and it came again',
      ([routed, delivered]) => [
        [routed, delivered],
        [{ ...routed, at: routed.at + 5 }, delivered],
      ],
    ],
  ])('is told once, where %s', async (_, lotsOf) => {
    const records = aSuccess();
    for (const lot of lotsOf(records)) expect(await stand.write(lot)).toEqual([]);
    const { delivery } = records[1];
    expect(await told(delivery)).toEqual(once(records[1]));
    const entry = await deliveryHistory(stand.store.postgres, { delivery }, 'operator');
    expect(entry).toMatchObject({ status: 'delivered', attempts: [{ attempt: 1, answer: 'ok' }] });
  });

  test('does not hide that a crash made it twice', async () => {
    const [routed, delivered] = aSuccess();
    await stand.write([routed, delivered, { ...delivered, at: delivered.at + 5 }]);
    expect(await told(delivered.delivery)).toHaveLength(2);
    const entry = await deliveryHistory(stand.store.postgres, { delivery: delivered.delivery }, 'operator');
    expect(entry?.attempts).toHaveLength(2);
  });

  test.each([
    ['the day after its delivery', DAY_MS - 10, DAY_MS + 10],
    ['the day before, by another clock', DAY_MS + 10, DAY_MS - 10],
  ])('is told, though it ended %s', async (_, routedMs, endedMs) => {
    const day = Date.parse('2026-11-20T00:00:00Z');
    const [routed, delivered] = aSuccess({ at: day + endedMs }, { at: day + routedMs });
    await stand.write([routed, delivered]);
    expect(await ownRows(delivered.delivery)).toEqual([]);
    const entry = await deliveryHistory(stand.store.postgres, { delivery: delivered.delivery }, 'operator');
    expect(entry).toMatchObject({ status: 'delivered', attempts: [{ at: delivered.at }] });
    const ofItsDay = await stand.rows(
      `select delivery from delivery_log.all_attempts where delivery = $1 and at = to_timestamp($2::float8 / 1000)
         and filed_at between to_timestamp($2::float8 / 1000) - interval '1 minute' and to_timestamp($2::float8 / 1000) + interval '1 minute'`,
      [delivered.delivery, delivered.at],
    );
    expect(ofItsDay).toHaveLength(1);
  });
});

/** What a story comes to, by everything that can be asked. */
type Story = { name: string; attempts: Attempted[]; isRoutedAgain?: boolean };

const sure = { durationMs: 12, status: 200, url: 'https://a.test/hook', body: 'Jane Doe' };
const refusal = { durationMs: 12, status: 503, reason: 'http_5xx' as const, url: 'https://b.test/', body: 'no' };
const first = aDelivered({ at: START + 20, answer: sure, body: '{"name":"Jane Doe"}' });
const stories: Story[] = [
  { name: 'success at once', attempts: [first] },
  {
    name: 'failure, then success',
    attempts: [aFailed({ answer: refusal }), { ...first, attempt: 2, at: START + 1_020 }],
  },
  { name: 'success twice', attempts: [first, { ...first, at: START + 25 }] },
  { name: 'success and failure, in two chains', attempts: [first, anExhausted({ at: START + 30, answer: refusal })] },
  { name: 'success, and dropped in another chain', attempts: [first, aDropped({ at: START + 30 })] },
  { name: 'given up', attempts: [anExhausted({ at: START + 30, answer: refusal })] },
  { name: 'nothing yet', attempts: [] },
  { name: 'success, its event routed again', attempts: [first], isRoutedAgain: true },
];

/** Answers to every question, with what stands for the guids that are the stand's own. */
async function answersOf(on: LogStand, { attempts, isRoutedAgain }: Story, isRepeat: boolean): Promise<unknown> {
  const { postgres } = on.store;
  const { guid: account } = await createAccount(postgres, { interface: 'carrier' });
  const subscription = await on.subscribe(account, 'order.created');
  const logged = await on.log(attempts, { account, subscription }, isRepeat);
  const { event, subject, delivery } = logged;
  if (isRoutedAgain === true) await on.log([], { ...logged, at: START + 5 }, isRepeat);
  const client: ClientReader = { account, client: 'default', interface: 'carrier' };
  const asked = { sinceMs: START - 1, account, limit: 10 };
  const replay = {
    of: { subscription },
    includesSuppressed: false,
    sinceMs: START,
    untilMs: START + DAY_MS,
    perSecond: 1,
  };
  const pages = [
    {},
    { about: { key: subject } },
    { reason: 'http_5xx' },
    ...DELIVERY_STATUSES.map((status) => ({ status })),
  ];
  const found: unknown[] = [];
  for (const filter of pages) found.push(await findDeliveries(postgres, { reader: client, filter, limit: 1 }));
  const answers = {
    timeline: await timelineOf(postgres, { about: { key: subject }, reader: 'operator', limit: 10 }),
    toClient: await timelineOf(postgres, { about: { key: subject }, reader: client, limit: 10 }),
    event: await eventHistory(postgres, event, 'operator'),
    delivery: await deliveryHistory(postgres, { delivery }, client),
    found,
    failing: await failingOrigins(postgres, asked),
    undelivered: await oldestUndelivered(postgres, asked),
    replay: await countReplay(postgres, replay, client),
    resend: await askForResend(postgres, { delivery, client, by: 'a test' }),
    forgotten: await forget(postgres, { key: subject }),
    afterwards: await timelineOf(postgres, { about: { key: subject }, reader: 'operator', limit: 10 }),
  };
  const own = { account, subscription, event, subject, delivery };
  return JSON.parse(
    Object.entries(own).reduce((text, [name, guid]) => text.replaceAll(guid, name), JSON.stringify(answers)),
  );
}

describe('every question', () => {
  test.each(stories)('has the same answer wherever attempts lie: $name', async (story) => {
    const answers = await answersOf(stand, story, false);
    expect(answers).toEqual(await answersOf(apart, story, true));
    expect(JSON.stringify((answers as { afterwards: unknown }).afterwards)).not.toContain('Jane Doe');
  });

  test('is asked of rows that lie apart and of rows that do not', async () => {
    const inRows = 'select count(attempted_at)::int as count from delivery_log.deliveries';
    expect(await stand.rows(inRows)).not.toEqual([{ count: 0 }]);
    expect(await apart.rows(inRows)).toEqual([{ count: 0 }]);
  });
});
