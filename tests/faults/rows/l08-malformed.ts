import type { Options } from 'amqplib';
import { deliveryQueue } from '@waybell/line/topology';
import { brokenFrom, faultNames } from '../../actions/generate/broken.ts';
import { actionTable, keyOf } from '../../actions/oracle/action-table.ts';
import type { Malformed } from '../../testing/unexpected.ts';
import { subscribed } from '../../testing/subscribers.ts';
import type { Upstream } from '../../testing/upstream.ts';
import type { Fault } from '../fault.ts';
import { underLoad } from '../under-load.ts';

const MALFORMED = { short: 500, release: 10_000 };
const FORGED_BUT_GOOD = { short: 50, release: 1_000 };
/** One in so many goes where no queue is bound. */
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

/** A malformed event of every kind is rejected once, with its reason, and affects nothing else. */
export const malformed: Fault[] = [
  {
    row: 'L8',
    name: 'malformed and forged messages among good ones',
    gates: true,
    bars: { duplicates: 0, movingAgainSeconds: 5, megabytes: 400 },
    run: underLoad(async (stage, ledger) => {
      const { stack, scale } = stage;
      const forged = { interface: 'shipper', action: 'order.paid', folder: '/forged', answers: [500, 200] } as const;
      const party = await subscribed(stage, forged);
      // They go their way, retries included, as if nothing were forged.
      for (let count = 0; count < FORGED_BUT_GOOD[scale]; count += 1) await ledger.publish(party, FORGED);
      for (let seed = 0; seed < MALFORMED[scale]; seed += AT_ONCE) {
        const seeds = Array.from({ length: AT_ONCE }, (_, index) => seed + index);
        ledger.malformed.push(...(await Promise.all(seeds.map((each) => publishOne(stack.upstream, each)))));
      }
    }),
  },
];

/** Resolves with what is to be found in the rejected queue. */
async function publishOne(upstream: Upstream, seed: number): Promise<Malformed> {
  const { message, head } = brokenFrom(seed % faultNames.length, seed).broken;
  const { body, messageId, contentType, contentEncoding } = message;
  const routingKey = seed % MISTYPED_EVERY === 0 ? 'shipper.order.payed' : message.routingKey;
  await upstream.publishRaw(routingKey, body, messageId, {
    ...FORGED,
    ...(contentType !== undefined && { contentType }),
    ...(contentEncoding !== undefined && { contentEncoding }),
  });
  const isRoutable = actionTable.some((action) => keyOf(action) === routingKey);
  return { body: body.toString('latin1'), reason: isRoutable ? (head.split(' ')[1] ?? '') : 'unroutable' };
}
