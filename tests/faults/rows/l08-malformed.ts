import { randomUUID } from 'node:crypto';
import type { Options } from 'amqplib';
import { deliveryQueue } from '@waybell/line/topology';
import { brokenFrom, faultNames } from '../../actions/generate/broken.ts';
import type { Ledger } from '../../testing/ledger.ts';
import { until } from '@waybell/runtime/testing/until';
import type { Upstream } from '../../testing/upstream.ts';
import { failingAtFirst } from '../failing-at-first.ts';
import type { Fault } from '../fault.ts';
import type { Stage } from '../stage.ts';
import { underLoad } from '../under-load.ts';

const MALFORMED = { short: 500, release: 10_000 };
const FORGED_BUT_GOOD = { short: 50, release: 1_000 };
/** One in so many goes where nobody is bound. */
const MISTYPED_EVERY = 10;
const AT_ONCE = 100;

/** Headers and properties that a careless or malicious upstream may send with anything. */
const FORGED: Options.Publish = {
  priority: 9,
  headers: {
    // Copied to a retry, the first of these would make the broker drop it as going round in a circle.
    'x-death': [deliveryQueue('shipper.order.paid'), 'waybell.retry.shipper.order.paid.1m'].map((queue) => {
      return { reason: 'expired', count: 99, queue, exchange: 'waybell.retry', 'routing-keys': ['shipper.order.paid'] };
    }),
    'x-delivery-count': 99,
    'x-first-death-reason': 'rejected',
    'waybell-failures': 4,
    'waybell-queue': 'waybell.deliveries.shipper.order.paid',
    'waybell-reason': 'forged',
  },
};

let published = 0;

/** What breaks the contract in one of all ways is rejected once, with a reason, and harms nobody beside it. */
export const malformed: Fault[] = [
  {
    row: 'L8',
    name: 'malformed and forged messages among good ones',
    isDaily: true,
    bars: { duplicates: 0, movingAgainSeconds: 5, megabytes: 400 },
    run: underLoad(
      async (stage, ledger) => {
        await publishForgedButGood(stage, ledger);
        published = await publishMalformed(stage.stack.upstream, MALFORMED[stage.scale]);
      },
      { check: (_stage, ledger) => rejectedOnce(ledger) },
    ),
  },
];

/** They go their way, retries included, as if nothing were forged. */
async function publishForgedButGood(stage: Stage, ledger: Ledger): Promise<void> {
  const party = await failingAtFirst(stage, `/forged/${randomUUID()}`);
  for (let count = 0; count < FORGED_BUT_GOOD[stage.scale]; count += 1) {
    const event = party.anEvent();
    const sentAt = performance.now();
    await stage.stack.upstream.publish(event, FORGED);
    ledger.confirmed(event, party.subscriptions, sentAt);
  }
}

async function publishMalformed(upstream: Upstream, count: number): Promise<number> {
  for (let seed = 0; seed < count; seed += AT_ONCE) {
    const seeds = Array.from({ length: Math.min(AT_ONCE, count - seed) }, (_, index) => seed + index);
    await Promise.all(seeds.map((each) => publishOne(upstream, each)));
  }
  return count;
}

async function publishOne(upstream: Upstream, seed: number): Promise<void> {
  const { message } = brokenFrom(seed % faultNames.length, seed).broken;
  const { body, messageId, contentType, contentEncoding } = message;
  const routingKey = seed % MISTYPED_EVERY === 0 ? 'shipper.order.payed' : message.routingKey;
  await upstream.publishRaw(routingKey, body, messageId, {
    ...FORGED,
    ...(contentType !== undefined && { contentType }),
    ...(contentEncoding !== undefined && { contentEncoding }),
  });
}

/** The load has rejected events of its own, all with the guid of the event; only what is beyond them was malformed. */
async function rejectedOnce(ledger: Ledger): Promise<string[]> {
  const beyond = () => ledger.rejections.length - ledger.balance().rejected;
  // Nobody waits for these; and what is unroutable goes a longer way.
  const areAll = async () => {
    await ledger.read();
    return beyond() >= published;
  };
  await until('all are rejected', areAll).catch(() => undefined);
  const unnamed = ledger.rejections.filter(({ reason }) => reason === '' || reason === 'forged').length;
  return [
    ...(beyond() === published ? [] : [`${published} malformed messages, ${beyond()} rejected`]),
    ...(unnamed === 0 ? [] : [`${unnamed} rejected without a reason of ours`]),
  ];
}
