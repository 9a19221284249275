import { randomUUID } from 'node:crypto';
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import type { Attempted, Outcome, Routed } from '@waybell/line/outcomes';
import { rejectedQueue } from '@waybell/line/topology';
import { anEvent, type PublishedEvent } from '../testing/event.ts';
import { MemoryLine, type Crash, type Receiver } from './memory-line.ts';

const ACTIONS = [
  { interface: 'carrier', action: 'order.created' },
  { interface: 'carrier', action: 'order.delivered' },
  { interface: 'shipper', action: 'order.paid' },
  { interface: 'shipper', action: 'order.picked_up_bol' },
] as const;
const ACCOUNTS = [randomUUID(), randomUUID()];
const LONGEST = { carrier: 4, shipper: 6 };
const DELAYS_MS = { carrier: [1_000, 2_000, 4_000], shipper: [60_000, 60_000, 60_000, 60_000, 60_000] };

const where = fc.record({ action: fc.constantFrom(...ACTIONS), account: fc.constantFrom(...ACCOUNTS) });
/** How a receiver answers its 1st, 2nd, … attempt: the same whenever it is asked again. */
const answers = fc.array(
  fc.record({ status: fc.constantFrom(200, 200, 404, 500, 'none' as const), afterMs: fc.nat({ max: 5_000 }) }),
  { minLength: 1, maxLength: 6 },
);
const subscription = fc.record({ where, answers, isFeatureOn: fc.boolean() });
const twist = fc.constantFrom('none', 'none', 'again', 'guid reused', 'links missing', 'not an event');
const published = fc.record({ where, twist, pauseMs: fc.constantFrom(0, 0, 700, 90_000) });

const story = (crashes: readonly Crash[]) =>
  fc.record({
    subscriptions: fc.array(subscription, { maxLength: 5 }),
    events: fc.array(published, { minLength: 1, maxLength: 6 }),
    crashes: fc.array(fc.constantFrom(undefined, undefined, ...crashes), { maxLength: 20 }),
    order: fc.array(fc.nat({ max: 50 }), { minLength: 1, maxLength: 20 }),
    slots: fc.constantFrom(1, 3, 1_024),
    window: fc.constantFrom(1, 64),
  });
type Story = ReturnType<typeof story> extends fc.Arbitrary<infer S> ? S : never;

/** Lets a story happen. Resolves with the line at its end and the events that went into it. */
async function happen({ subscriptions, events, crashes, order, slots, window }: Story) {
  const plan = [...crashes];
  let turn = 0;
  const line = new MemoryLine({
    settings: { DELIVER_SLOTS: String(slots), DELIVER_WINDOW: String(window) },
    crash: () => plan.shift(),
    pick: () => order[turn++ % order.length] ?? 0,
  });
  for (const each of subscriptions) {
    const row = line.subscriptions.add({
      ...each.where.action,
      account: each.where.account,
      isFeatureOn: each.isFeatureOn,
    });
    const receiver: Receiver = ({ attempt }) => each.answers[(attempt - 1) % each.answers.length] ?? { status: 200 };
    line.receivers.set(row.guid, receiver);
  }
  const guids = new Set<string>();
  let broken = 0;
  for (const each of events) {
    const event = eventOf(each);
    if (each.twist === 'not an event') {
      line.publishBytes(`${event.interface}.${event.action}`, Buffer.from('{'));
      broken += 1;
    } else {
      guids.add(event.guid);
      line.publish(event);
      if (each.twist === 'again') line.publish(event);
      if (each.twist === 'guid reused') line.publish({ ...event, error_message: 'other' } as PublishedEvent);
    }
    await line.runFor(each.pauseMs);
  }
  await line.run();
  return { line, guids, broken, slots };
}

function eventOf({ where: { action, account }, twist: how }: Story['events'][number]): PublishedEvent {
  const links = action.action === 'order.picked_up_bol' && how !== 'links missing';
  const payload = { order_guid: randomUUID(), ...(links && LINKS) };
  return anEvent({
    ...action,
    parties: { [action.interface]: account },
    ...(action.interface === 'shipper' && { payload }),
  });
}

const LINKS = { pdf_bol_url: 'https://example.com/1.pdf', online_bol_url: 'https://example.com/1' };

const isRouted = (outcome: Outcome): outcome is Routed => outcome.kind === 'routed';
const isAttempted = (outcome: Outcome): outcome is Attempted => outcome.kind !== 'routed';

/** What became of each delivery that the router says it made: the ends that were recorded, each once. */
function endsByDelivery(line: MemoryLine): Map<string, Set<string>> {
  const ends = new Map<string, Set<string>>();
  for (const { deliveries } of line.outcomes.filter(isRouted)) {
    for (const { delivery } of deliveries) ends.set(delivery, new Set());
  }
  for (const outcome of line.outcomes.filter(isAttempted)) {
    if (outcome.kind !== 'failed') ends.get(outcome.delivery)?.add(outcome.kind);
  }
  return ends;
}

function requestsByDelivery(line: MemoryLine) {
  return Map.groupBy(line.requests, ({ guid }) => guid);
}

function assert(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`not so: ${what}`);
}

type Laws = Record<string, (happened: Awaited<ReturnType<typeof happen>>) => void>;

/** Holds all of these laws against each of many stories in which processes die at these points. */
async function hold(laws: Laws, { crashes, stories }: { crashes: readonly Crash[]; stories: number }): Promise<void> {
  const kept = fc.asyncProperty(story(crashes), async (told) => {
    const happened = await happen(told);
    for (const [name, check] of Object.entries(laws)) {
      try {
        check(happened);
      } catch (cause) {
        throw new Error(`broken: ${name}`, { cause });
      }
    }
  });
  await fc.assert(kept, { numRuns: stories, includeErrorInReport: true });
}

const always: Laws = {
  'every event is routed or rejected, and nothing is left on the line': ({ line, guids, broken }) => {
    const routed = new Set(line.outcomes.filter(isRouted).map(({ event }) => event));
    for (const guid of guids) assert(routed.has(guid), `${guid} was routed`);
    const nonsense = line.rejections.filter(({ reason }) => reason !== 'guid_reused');
    assert(nonsense.length === broken, 'what is not an event was rejected, and nothing else was');
    assert(
      line.broker.filled().every((queue) => queue === rejectedQueue),
      'all queues are empty',
    );
  },
  'the record of an event names a delivery, or a reason, for every subscription that it was for': ({ line }) => {
    for (const { deliveries, suppressed } of line.outcomes.filter(isRouted)) {
      assert(deliveries.length + suppressed.length > 0, 'something is said');
      const told = [...deliveries, ...suppressed].map((each) => each.subscription);
      assert(new Set(told).size === told.length, 'and once of each subscription');
    }
  },
  'every delivery comes to an end': ({ line }) => {
    for (const [delivery, ends] of endsByDelivery(line)) assert(ends.size > 0, `${delivery} ended`);
  },
  'attempts of a delivery are 1 to n without a gap, and no more than its interface has': ({ line }) => {
    for (const [delivery, requests] of requestsByDelivery(line)) {
      const attempts = [...new Set(requests.map(({ attempt }) => attempt))];
      assert(
        attempts.every((attempt, index) => attempt === index + 1),
        `${delivery}: ${attempts.join()}`,
      );
      const [first] = requests;
      assert(first !== undefined && attempts.length <= LONGEST[first.interface], `${delivery}: as many as it has`);
    }
  },
  'no retry comes before its time': ({ line }) => {
    for (const requests of requestsByDelivery(line).values()) {
      for (const request of requests.filter(({ attempt }) => attempt > 1)) {
        const before = requests.find(({ attempt }) => attempt === request.attempt - 1);
        const delayMs = DELAYS_MS[request.interface][request.attempt - 2] ?? Infinity;
        assert(before !== undefined && request.at >= before.endedAt + delayMs, 'it waited for its delay');
      }
    }
  },
  'no more requests are under way at once than there are slots': ({ line, slots }) => {
    for (const { at } of line.requests) {
      const underWay = line.requests.filter((each) => each.at <= at && at < each.endedAt).length;
      assert(underWay <= slots, `${underWay} under way, and ${slots} slots`);
    }
  },
  'a delivery is the same message every time': ({ line }) => {
    for (const requests of requestsByDelivery(line).values()) {
      assert(new Set(requests.map(({ body }) => body.toString('base64'))).size === 1, 'one body');
    }
  },
};

const whereNoneForgets: Laws = {
  'every delivery has exactly one end': ({ line }) => {
    for (const [delivery, ends] of endsByDelivery(line)) {
      assert(ends.size === 1, `${delivery} ended once: ${[...ends].join()}`);
    }
  },
  'what was delivered answered 2xx, and what was exhausted used all its attempts in vain': ({ line }) => {
    const requests = requestsByDelivery(line);
    for (const outcome of line.outcomes.filter(isAttempted)) {
      const made = requests.get(outcome.delivery) ?? [];
      const attempts = new Set(made.map(({ attempt }) => attempt)).size;
      if (outcome.kind === 'delivered') assert(attempts === outcome.attempt, 'delivered at the last attempt made');
      if (outcome.kind === 'exhausted') assert(attempts === LONGEST[outcome.interface], 'all attempts were made');
      if (outcome.kind === 'dropped') assert(attempts === outcome.attempt - 1, 'no attempt was made');
    }
  },
  'carrier subscriptions are off if, and only if, a delivery of theirs is exhausted': ({ line }) => {
    const exhausted = new Set(
      line.outcomes.flatMap((outcome) => (outcome.kind === 'exhausted' ? [outcome.subscription] : [])),
    );
    for (const row of line.subscriptions.rows) {
      const isOff = row.interface === 'carrier' && exhausted.has(row.guid);
      assert((row.state === 'deactivated') === isOff, `${row.interface} ${row.state}`);
    }
  },
};

const whereNoneDies: Laws = {
  'without any crash, no request is made twice': ({ line }) => {
    const made = line.requests.map(({ guid, attempt }) => `${guid} ${attempt}`);
    assert(new Set(made).size === made.length, 'each attempt is one request');
  },
};

test.each([
  [
    'whatever happens, and wherever a process dies',
    always,
    { crashes: ['publish', 'remember', 'acknowledge'], stories: 500 },
  ],
  [
    'where no process dies between handing over and remembering',
    { ...always, ...whereNoneForgets },
    { crashes: ['publish', 'acknowledge'], stories: 300 },
  ],
  ['where no process dies', { ...always, ...whereNoneForgets, ...whereNoneDies }, { crashes: [], stories: 200 }],
] as const)('%s, the laws hold', async (_where, laws, stories) => {
  await expect(hold(laws, stories)).resolves.toBeUndefined();
});
