import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import type { DeliveryEnd } from '@waybell/line/delivery-ends';
import type { InterfaceName } from '@waybell/line/outcomes';

/** A subscription that a rule has just switched off. */
export type Deactivation = {
  subscription_guid: string;
  generation: number;
  interface: InterfaceName;
  action: string;
  rule: 'exhausted' | 'window';
};

/** Which rule is on for which interface (carrier-webhooks, States and transitions). */
export type Rules = { offOnExhausted: InterfaceName[]; offOnWindow: InterfaceName[]; windowMs: number };

/**
 * Notes how deliveries ended and applies the rules to every subscription; with no deliveries, only the rules. Returns
 * what was switched off by this very call. Calling it twice with the same deliveries changes nothing.
 */
export type SettleDeliveries = (ends: readonly DeliveryEnd[]) => Promise<Deactivation[]>;

const SETTLE = {
  name: 'settle-deliveries',
  text: `select * from waybell.settle_deliveries($1::uuid[], $2::int[], $3::boolean[],
           (select array_agg(to_timestamp(ms / 1000.0) order by place) from unnest($4::float8[]) with ordinality ended(ms, place)),
           $5::text[], $6::text[], make_interval(secs => $7::float8 / 1000))`,
};

export function settleDeliveriesIn(postgres: Postgres, rules: Rules): SettleDeliveries {
  return async (ends) => {
    const values = [
      ends.map(({ subscription }) => subscription),
      ends.map(({ generation }) => generation),
      ends.map(({ isDelivered }) => isDelivered),
      ends.map(({ at }) => at),
      rules.offOnExhausted,
      rules.offOnWindow,
      rules.windowMs,
    ];
    const { rows } = await whenAvailable(postgres, () => postgres.query<Deactivation>({ ...SETTLE, values }));
    return rows;
  };
}
