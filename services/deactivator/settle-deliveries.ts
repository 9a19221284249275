import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import type { Delivered, Exhausted, InterfaceName } from '@waybell/line/outcomes';

/** A delivery that has come to its end: delivered, or all its attempts failed. */
export type Ended = Delivered | Exhausted;

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
export type SettleDeliveries = (ended: readonly Ended[]) => Promise<Deactivation[]>;

const SETTLE = {
  name: 'settle-deliveries',
  text: `select * from waybell.settle_deliveries($1::uuid[], $2::int[], $3::boolean[],
           (select array_agg(to_timestamp(ms / 1000.0) order by place) from unnest($4::float8[]) with ordinality began(ms, place)),
           (select array_agg(to_timestamp(ms / 1000.0) order by place) from unnest($5::float8[]) with ordinality ended(ms, place)),
           $6::text[], $7::text[], make_interval(secs => $8::float8 / 1000))`,
};

export function settleDeliveriesIn(postgres: Postgres, rules: Rules): SettleDeliveries {
  return async (ended) => {
    const values = [
      ended.map(({ subscription }) => subscription),
      ended.map(({ generation }) => generation),
      ended.map(({ kind }) => kind === 'delivered'),
      ended.map(({ beganAt }) => beganAt),
      ended.map(({ at }) => at),
      rules.offOnExhausted,
      rules.offOnWindow,
      rules.windowMs,
    ];
    const { rows } = await whenAvailable(postgres, () => postgres.query<Deactivation>({ ...SETTLE, values }));
    return rows;
  };
}
