import { publishDelivery } from '@waybell/line/delivery';
import { OTHER_STEP, PARTS } from './copies.ts';
import type { Deliverer } from './deliverer.ts';

/**
 * A router in the deliverer's place: what is delivered there is an event here, with a delivery for another step in each of two parts.
 * They count as its second and third attempt, and its record as that of its first.
 */
export function routerFrom({ rules, handled }: Deliverer): Deliverer {
  return {
    rules,
    handled: (event) => {
      const { caused } = handled(event, 'failed');
      const records = Array.isArray(caused) ? caused.filter(({ kind }) => kind === 'outcome') : [];
      const parts = PARTS.map((attempt) => [{ ...publishDelivery({ ...event, attempt }), exchange: OTHER_STEP }]);
      return { requests: 1, caused: { parts: [...parts, records] } };
    },
  };
}
