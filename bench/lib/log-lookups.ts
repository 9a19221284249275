import { deliveryHistory, timelineOf } from '@waybell/delivery-log/read/history';
import type { Dice } from '@waybell/tests/actions/generate/dice';
import { countsOf, deliveryGuid, DELIVERIES_PER_EVENT, orderGuid, type LogHistory } from './log-history.ts';
import { connectAs } from './log-writer.ts';

/** The size of a page of the API. */
const PAGE = 50;

export type LookupName = 'timeline' | 'delivery';

/** Lookups in the log; each resolves with its milliseconds. */
export type Lookups = AsyncDisposable & Record<LookupName, (dice: Dice) => Promise<number>>;

/** Asks for orders and deliveries by chance. Throws where an answer is not whole. */
export function lookupsIn(url: string, history: LogHistory): Lookups {
  const postgres = connectAs(url, '');
  const { orders, deliveries } = countsOf(history);
  // Not of the first day, which may be gone.
  const someOf = (dice: Dice, first: number, count: number) => first + dice.below(count - first);
  return {
    async timeline(dice) {
      const subject = orderGuid(someOf(dice, history.eventsPerDay, orders));
      const beganAt = performance.now();
      const { entries } = await timelineOf(postgres, { about: { key: subject }, reader: 'operator', limit: PAGE });
      const tookMs = performance.now() - beganAt;
      const verdicts = entries.flatMap((entry) => entry.verdicts);
      const isWhole = verdicts.every(
        (verdict) => verdict.kind === 'delivery' && verdict.delivery.status === 'delivered',
      );
      if (!isWhole || verdicts.length === 0) throw new Error(`the order ${subject} is not told whole`);
      return tookMs;
    },
    async delivery(dice) {
      const delivery = deliveryGuid(someOf(dice, history.eventsPerDay * DELIVERIES_PER_EVENT, deliveries));
      const beganAt = performance.now();
      const told = await deliveryHistory(postgres, { delivery }, 'operator');
      const tookMs = performance.now() - beganAt;
      if (told?.status !== 'delivered') throw new Error(`the delivery ${delivery} is not told whole`);
      return tookMs;
    },
    [Symbol.asyncDispose]: () => postgres.end(),
  };
}
