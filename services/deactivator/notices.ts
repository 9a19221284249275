import { Gauge } from 'prom-client';
import type { ClaimedRows } from '@waybell/line/outbox/claimed-rows';
import { noticeAsJson, noticeKey, type OperationsNotice } from '@waybell/line/operations-notice';
import { noticesExchange } from '@waybell/line/topology';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import { runEvery } from '@waybell/runtime/run-every';

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

const MARK_PUBLISHED = {
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
    async settle(published) {
      const values = [published.map(({ guid }) => guid)];
      await whenAvailable(postgres, () => postgres.query({ ...MARK_PUBLISHED, values }));
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

/** A notice about an endpoint is published once deliveries have waited there for longer than this, … */
const LATE = "interval '5 minutes'";
/** … and repeated at this interval, like notices of failed deliveries. */
const EVERY = "interval '1 hour'";
const KEPT = "interval '7 days'";
const PRUNED_AT_ONCE = 10_000;

const STATEMENTS = [
  { name: 'tell-exhausted', text: `select waybell.tell_exhausted(${EVERY})` },
  {
    name: 'prune-notices',
    text: `delete from waybell.notices where guid in (
      select guid from waybell.notices where at < now() - ${KEPT} order by at limit ${PRUNED_AT_ONCE})`,
  },
  { name: 'tell-late-endpoints', text: `select waybell.tell_late_endpoints(${LATE}, ${EVERY})` },
];

/** Writes notices of waiting and failing, at each interval, and deletes old ones. */
export function startTroubleNotices(
  postgres: Postgres,
  { intervalMs, log }: { intervalMs: number; log: Log },
): AsyncDisposable {
  async function write(): Promise<void> {
    for (const statement of STATEMENTS) await whenAvailable(postgres, () => postgres.query(statement));
  }
  return runEvery(write, { intervalMs, warning: 'trouble.not-told', log });
}

/** A notice is published this long before a certificate ends: an authority may take weeks for the next one. */
const SOON = "interval '30 days'";

const TELL_ENDING = { name: 'tell-ending-certificates', text: `select waybell.tell_ending_certificates(${SOON})` };
const COUNT = {
  name: 'count-certificates',
  text: `select valid, ending, over from waybell.count_certificates(${SOON})`,
};

type TellCertificatesOptions = { intervalMs: number; log: Log; metrics: Metrics };

/** Writes notices of receivers' certificates that end, and counts them, at each interval. */
export function startCertificateNotices(
  postgres: Postgres,
  { intervalMs, log, metrics }: TellCertificatesOptions,
): AsyncDisposable {
  const gauge = gaugeCertificates(metrics);
  async function write(): Promise<void> {
    await whenAvailable(postgres, () => postgres.query(TELL_ENDING));
    const { rows } = await whenAvailable(postgres, () => postgres.query<Record<string, number>>(COUNT));
    for (const [state, certificates] of Object.entries(rows[0] ?? {})) gauge.set({ state }, certificates);
  }
  return runEvery(write, { intervalMs, beginsAtOnce: true, warning: 'certificates.not-told', log });
}

export function gaugeCertificates(metrics: Metrics): Gauge<'state'> {
  return new Gauge({
    name: 'waybell_receiver_certificates',
    help: 'Client certificates for receivers: valid, ending (within 30 days), over',
    labelNames: ['state'],
    registers: [metrics],
  });
}
