import { messageGuidOf } from '../actions/oracle/message-guid.ts';
import { stack } from './stand.ts';

type Made = { event: string; subscription: string; delivery: string };

/** Finds each delivery to an account that the log knows. */
export async function deliveriesOf({ account }: { account: string }): Promise<Made[]> {
  const { rows } = await stack.postgres.query<Omit<Made, 'delivery'>>(
    'select event, unnest(subscriptions) as subscription from delivery_log.events where account = $1',
    [account],
  );
  return rows.map((row) => ({ ...row, delivery: messageGuidOf(row.event, row.subscription) }));
}
