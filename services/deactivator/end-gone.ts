import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import type { Log } from '@waybell/runtime/log';
import type { DeliveryEnd, InterfaceName } from '@waybell/line/outcomes';

/** Ends subscriptions whose receiver answered 410. Repeated, it changes nothing. */
export type EndGone = (gone: readonly DeliveryEnd[]) => Promise<void>;

const END_GONE = {
  name: 'end-gone',
  text: 'select subscription, interface, action from waybell.end_gone($1::uuid[], $2::int[], $3::text[])',
};

/** `endOnGone`: interfaces whose subscriptions end for it. */
export function endGoneIn(
  postgres: Postgres,
  { endOnGone, log }: { endOnGone: InterfaceName[]; log: Pick<Log, 'info'> },
): EndGone {
  return async (gone) => {
    if (endOnGone.length === 0) return;
    const values = [gone.map(({ subscription }) => subscription), gone.map(({ generation }) => generation), endOnGone];
    const { rows } = await whenAvailable(postgres, () => postgres.query<object>({ ...END_GONE, values }));
    for (const ended of rows) log.info({ ...ended, reason: 'gone' }, 'subscription.ended');
  };
}
