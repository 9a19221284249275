import type { InterfaceName } from '@waybell/line/outcomes';
import type { Queryable } from '@waybell/runtime/postgres';
import { ms } from '../columns.ts';

/** A subscription that a rule switched off, and that was not subscribed anew since. Times are milliseconds since the epoch. */
export type SwitchedOff = {
  subscription: string;
  account: string;
  client: string;
  interface: InterfaceName;
  action: string;
  /** Without the query, whose values may be secrets. */
  url: string;
  createdAt: number;
  switchedOffAt: number;
  rule: 'exhausted' | 'window';
  /** The one that did it, where that is known. */
  delivery: string | null;
};

/** Finds those that are off now, of one account or of all, the one that was switched off last first. */
export async function subscriptionsSwitchedOff(
  postgres: Queryable,
  { account, limit }: { account?: string | undefined; limit: number },
): Promise<SwitchedOff[]> {
  const { rows } = await postgres.query<SwitchedOff>(
    `select guid as subscription, account_guid as account, client_id as client, interface, action,
       split_part(callback_url, '?', 1) as url, ${ms('created_at')} as "createdAt",
       ${ms('deactivated_at')} as "switchedOffAt", deactivation_rule as rule, deactivated_by as delivery
     from waybell.subscriptions
     where not is_active and ended_at is null and deactivated_at is not null and ($1::uuid is null or account_guid = $1)
     order by deactivated_at desc, guid limit $2`,
    [account ?? null, limit],
  );
  return rows;
}
