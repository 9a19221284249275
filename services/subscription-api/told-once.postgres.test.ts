import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { forget } from '@waybell/delivery-log/forget';
import { failingOrigins, oldestUndelivered } from './failing.ts';
import { findDeliveries } from '@waybell/delivery-log/read/find-deliveries';
import { DELIVERY_STATUSES, type ClientReader } from '@waybell/delivery-log/read/entries';
import { deliveryHistory, eventHistory, timelineOf } from '@waybell/delivery-log/read/history';
import type { Attempted, Delivered, Outcome, Routed } from '@waybell/line/outcomes';
import { messageGuid } from '@waybell/notifications/notification';
import { createAccount } from './accounts.ts';
import { askForResend } from './by-hand/ask.ts';
import { countReplay } from './by-hand/replays.ts';
import {
  aDelivered,
  aDropped,
  aFailed,
  anExhausted,
  aRouted,
  DAY_MS,
  LogStand,
  START,
} from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';

const stand = shared(() => LogStand.start());
/** Returns the records of a router and a deliverer for one delivery that succeeds at once. */
function aSuccess(routedAt = START, endedAt = START + 20): [Routed, Delivered] {
  const [event, subscription, account] = [randomUUID(), randomUUID(), randomUUID()];
  const of = { receivers: [account], deliveries: [{ subscription, account }] };
  const delivery = messageGuid(event, subscription);
  return [aRouted({ event, at: routedAt, ...of }), aDelivered({ event, delivery, subscription, at: endedAt })];
}

const told = ({ delivery, event }: Delivered) => deliveryHistory(stand.store.postgres, { delivery, event }, 'operator');

describe('an attempt', () => {
  test.each<[string, (of: [Routed, Delivered]) => Outcome[][]]>([
    ['its record came with that of its delivery', (both) => [both]],
    ['its record came first', ([routed, delivered]) => [[delivered], [routed]]],
    ['its record came second', ([routed, delivered]) => [[routed], [delivered]]],
    ['both came again, the other way round', (both) => [both, both.toReversed()]],
    ['it came again, alone', ([routed, delivered]) => [[routed, delivered], [delivered]]],
    ['both came again, when it was alone before', ([routed, delivered]) => [[delivered], [routed, delivered]]],
    ['both came twice together', (both) => [[...both, ...both]]],
  ])('is told once, where %s', async (_, batchesOf) => {
    const both = aSuccess();
    for (const batch of batchesOf(both)) expect(await stand.write(batch)).toEqual([]);
    expect(await told(both[1])).toMatchObject({ status: 'delivered', attempts: [{ attempt: 1, at: START + 20 }] });
    expect(await eventHistory(stand.store.postgres, both[0].event, 'operator')).toHaveLength(1);
  });

  test('is not hidden by another that a crash made of it', async () => {
    const [routed, delivered] = aSuccess();
    await stand.write([routed, delivered, { ...delivered, at: delivered.at + 5 }]);
    expect((await told(delivered))?.attempts).toHaveLength(2);
  });

  test.each([
    ['the day after its delivery', -10, 10],
    ['the day before, by another clock', 10, -10],
  ])('is told, though it ended %s', async (_, routedMs, endedMs) => {
    const midnight = Date.parse('2026-11-20T00:00:00Z');
    const both = aSuccess(midnight + routedMs, midnight + endedMs);
    await stand.write(both);
    expect(await told(both[1])).toMatchObject({ status: 'delivered', attempts: [{ at: midnight + endedMs }] });
  });
});

/** A story, whose result every query must show. */
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

/** Answers to every question about a story, whose records come in one batch or each by itself, the last first, and again. */
async function answersOf({ attempts, isRoutedAgain }: Story, comes: 'together' | 'apart'): Promise<unknown> {
  const { postgres } = stand.store;
  const { guid: account } = await createAccount(postgres, { interface: 'carrier' });
  const given = { account, subscription: await stand.subscribe(account, 'order.created'), event: randomUUID() };
  const own = { ...given, subject: randomUUID(), delivery: messageGuid(given.event, given.subscription) };
  const { subscription, event, subject, delivery } = own;
  if (comes === 'apart') for (const attempt of attempts.toReversed()) await stand.log([attempt], own);
  await stand.log(attempts, own);
  if (isRoutedAgain === true) await stand.log([], { ...own, at: START + 5 });
  const client: ClientReader = { account, client: 'default', interface: 'carrier' };
  const asked = { sinceMs: START - 1, account, limit: 10 };
  const range = { sinceMs: START, untilMs: START + DAY_MS };
  const replay = { of: { subscription }, includesSuppressed: false, ...range, perSecond: 1 };
  const found: unknown[] = [];
  const statuses = DELIVERY_STATUSES.map((status) => ({ statuses: [status] }));
  for (const filter of [{}, { about: { key: subject } }, { reason: 'http_5xx' }, ...statuses])
    found.push(await findDeliveries(postgres, { reader: client, filter, limit: 1 }));
  const timeline = (reader: ClientReader | 'operator') =>
    timelineOf(postgres, { about: { key: subject }, reader, limit: 10 });
  const answers = {
    timeline: await timeline('operator'),
    toClient: await timeline(client),
    event: await eventHistory(postgres, event, 'operator'),
    delivery: await deliveryHistory(postgres, { delivery, event }, client),
    found,
    failing: await failingOrigins(postgres, asked),
    undelivered: await oldestUndelivered(postgres, asked),
    replay: await countReplay(postgres, replay, client),
    resend: attempts.length === 0 ? undefined : await askForResend(postgres, { delivery, client, by: 'a test' }),
    forgotten: await forget(postgres, { key: subject }),
    afterwards: await timeline('operator'),
  };
  return JSON.parse(
    Object.entries(own).reduce((text, [name, guid]) => text.replaceAll(guid, name), JSON.stringify(answers)),
  );
}

describe('every question', () => {
  test.each(stories)('has the same answer however records come: $name', async (story) => {
    const answers = await answersOf(story, 'together');
    expect(answers).toEqual(await answersOf(story, 'apart'));
    expect(JSON.stringify((answers as { afterwards: unknown }).afterwards)).not.toContain('Jane Doe');
  });
});
