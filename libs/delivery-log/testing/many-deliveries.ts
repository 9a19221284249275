import { randomUUID } from 'node:crypto';
import { partOf, writeAction } from '../tables.ts';
import { messageGuid } from '@waybell/notifications/notification';
import { aCarrier, DAY_MS, START, type LogStand } from './log-stand.ts';

export type Many = { account: string; exhausted: string[]; rare: string[]; waiting: string };

const DAYS = 8;

/**
 * A client with so many deliveries over a week, all delivered but three exhausted and one, days old, that waits; two are
 * of another action. As many are another client's, all exhausted.
 */
export async function logMany(stand: LogStand, count: number): Promise<Many> {
  const [account, other] = [await aCarrier(stand.store.postgres), await aCarrier(stand.store.postgres)];
  for (let day = 0; day < DAYS; day += 1) await stand.partitions.ensure([START - day * DAY_MS]);
  const often = await generate(stand, { account, action: 'order.created', kind: 'delivered', count });
  await generate(stand, { account: other, action: 'order.created', kind: 'exhausted', count });
  const rare = await generate(stand, { account, action: 'order.updated', kind: 'delivered', count: 2 });
  const olderThan = (days: number): string => often.find(({ at }) => at < START - days * DAY_MS)?.delivery ?? '';
  const [exhausted, waiting] = [[olderThan(1), olderThan(3), olderThan(6)], olderThan(4)];
  await stand.rows(
    "update delivery_log.attempts set kind = 'exhausted', reason = 'reset' where delivery = any ($1::uuid[])",
    [exhausted],
  );
  await stand.rows('delete from delivery_log.attempts where delivery = $1', [waiting]);
  await stand.rows('analyze delivery_log.events, delivery_log.attempts, waybell.subscriptions');
  return { account, exhausted, rare: rare.map(({ delivery }) => delivery), waiting };
}

type Generated = { account: string; action: string; kind: 'delivered' | 'exhausted'; count: number };

/** Deliveries to a subscription of their own, the latest first. */
async function generate(stand: LogStand, { account, action, kind, count }: Generated) {
  const subscription = await stand.subscribe(account, action);
  const written = writeAction('carrier', action);
  const stepMs = Math.floor(((DAYS - 1) * DAY_MS) / count);
  const made = Array.from({ length: count }, (_, place) => {
    const event = randomUUID();
    return { at: START - (place + 1) * stepMs, event, delivery: messageGuid(event, subscription) };
  });
  await stand.rows(
    `with made as (
       select to_timestamp(at_ms / 1000) as at, event, delivery
       from unnest($1::float8[], $2::uuid[], $3::uuid[]) as m (at_ms, event, delivery)
     ), events as (
       insert into delivery_log.events (at, event, part, account, action, keys, subscriptions)
       select at, event, $8, $4, $5, '{}', array[$6::uuid] from made
     )
     insert into delivery_log.attempts (at, delivery, attempt, kind, event, subscription, http_status, duration_ms)
     select at + interval '20 ms', delivery, 1, $7, event, $6, 200, 20 from made`,
    [
      made.map(({ at }) => at),
      made.map(({ event }) => event),
      made.map(({ delivery }) => delivery),
      account,
      written,
      subscription,
      kind,
      partOf(account, written),
    ],
  );
  return made;
}
