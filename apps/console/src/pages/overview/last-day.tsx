import type { components } from '../../api/client-api.d.ts';
import { writtenHere } from '../../parts/time.ts';
import { HEALTH } from '../../parts/words.ts';
import { HealthBars, HealthLink, KindMark, KINDS, sumOf } from '../subscriptions/health.tsx';
import type { HealthBucket } from '../subscriptions/use-subscription-rows.ts';

type LastDayProps = { since: string; actions: readonly components['schemas']['StatisticsOfAction'][] };

/** The last 24 hours of all actions together: each total leads to what was counted. */
export function LastDay({ since, actions }: LastDayProps) {
  const buckets = (actions[0]?.buckets ?? []).map((_bucket, hour) => together(actions, hour));
  return (
    <section className="part" aria-label="Last 24 hours">
      <div className="section-header">
        <h2>Last 24 hours</h2>
        <span className="small">since {writtenHere(since)}</span>
      </div>
      <div className="card last-day">
        <ul className="totals">
          {KINDS.map((kind) => (
            <li key={kind}>
              <HealthLink kind={kind} since={since}>
                <strong>{sumOf(buckets, kind).toLocaleString()}</strong>
                <span>
                  <KindMark kind={kind} /> {HEALTH[kind]}
                </span>
              </HealthLink>
            </li>
          ))}
        </ul>
        <HealthBars buckets={buckets} />
      </div>
      <p className="small">As each ended: what was replayed or resent counts again. Tests do not count.</p>
    </section>
  );
}

/** An hour of all actions. */
function together(actions: LastDayProps['actions'], hour: number): HealthBucket {
  const same = actions.flatMap(({ buckets }) => buckets[hour] ?? []);
  return {
    at: same[0]?.at ?? '',
    delivered: sumOf(same, 'delivered'),
    retried: sumOf(same, 'retried'),
    given_up: sumOf(same, 'given_up'),
    suppressed: sumOf(same, 'suppressed'),
  };
}
