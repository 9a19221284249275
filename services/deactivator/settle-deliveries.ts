import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import type { DeliveryEnd } from '@waybell/line/delivery-ends';
import type { InterfaceName } from '@waybell/line/outcomes';

/** Which rule is on for which interface (carrier-webhooks, States and transitions). */
export type Rules = { offOnExhausted: InterfaceName[]; offOnWindow: InterfaceName[]; windowMs: number };

/**
 * Notes how deliveries ended and applies the rules to every subscription; with no deliveries, only the rules. Resolves with
 * how many were switched off by this very call. Calling it twice with the same deliveries changes nothing.
 */
export type SettleDeliveries = (ends: readonly DeliveryEnd[]) => Promise<number>;

const SETTLE = {
  name: 'settle-deliveries',
  text: `select waybell.settle_deliveries($1::uuid[], $2::int[], $3::uuid[], $4::boolean[],
           (select array_agg(to_timestamp(ms / 1000.0) order by place) from unnest($5::float8[]) with ordinality ended(ms, place)),
           $6::text[], $7::text[], make_interval(secs => $8::float8 / 1000)) as off`,
};

export function settleDeliveriesIn(postgres: Postgres, rules: Rules): SettleDeliveries {
  return async (ends) => {
    const values = [
      ends.map(({ subscription }) => subscription),
      ends.map(({ generation }) => generation),
      ends.map(({ delivery }) => delivery),
      ends.map(({ isDelivered }) => isDelivered),
      ends.map(({ at }) => at),
      rules.offOnExhausted,
      rules.offOnWindow,
      rules.windowMs,
    ];
    const { rows } = await whenAvailable(postgres, () => postgres.query<{ off: number }>({ ...SETTLE, values }));
    return rows[0]?.off ?? 0;
  };
}
