import type { ClaimedRows } from '@waybell/line/claimed/claimed-rows';
import { noticeAsJson, noticeKey, type OperationsNotice } from '@waybell/line/operations-notice';
import { noticesExchange } from '@waybell/line/topology';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';

const AT_ONCE = 100;

/** Counts missed events at the first claim: by then the delivery log has all suppressions up to a second before. */
const CLAIM = {
  name: 'claim-notices',
  text: `
    with due as (
      select guid from waybell.notices where published_at is null and (claimed_until is null or claimed_until < now())
      order by at limit ${AT_ONCE} for update skip locked
    ), claimed as (
      update waybell.notices n set claimed_until = now() + make_interval(secs => $1::float8 / 1000),
        missed_count = case when n.missed_until is not null and n.missed_count is null
          then waybell.count_missed(n.subscription, n.since, n.missed_since, n.missed_until) else n.missed_count end
      from due where n.guid = due.guid returning n.*
    )
    select ${noticeAsJson} as notice from claimed order by at, guid`,
};

const SETTLE = {
  name: 'settle-notices',
  text: 'update waybell.notices set published_at = now() where guid = any ($1::uuid[])',
};

/** Notices to publish to the platform: rows that triggers write together with the change. One may come twice, with the same guid. */
export function noticesIn(postgres: Postgres, { claimMs }: { claimMs: number }): ClaimedRows<OperationsNotice> {
  return {
    claimMs,
    // Without its queue a notice is in the table all the same.
    mayBeLost: true,
    async claim() {
      const claimed = () => postgres.query<{ notice: OperationsNotice }>({ ...CLAIM, values: [claimMs] });
      return (await whenAvailable(postgres, claimed)).rows.map(({ notice }) => notice);
    },
    async settle(told) {
      const values = [told.map(({ guid }) => guid)];
      await whenAvailable(postgres, () => postgres.query({ ...SETTLE, values }));
    },
    publicationOf: (notice) => ({
      kind: 'publish',
      exchange: noticesExchange,
      routingKey: noticeKey(notice.kind),
      messageId: notice.guid,
      body: Buffer.from(JSON.stringify(notice)),
      contentType: 'application/json',
    }),
  };
}
