import { HEALTH } from '../../parts/words.ts';
import { HealthBars, HealthLink, KindMark, KINDS, sumOf } from './health.tsx';
import type { ListedSubscription } from './use-subscription-rows.ts';

/** How it went for a subscription in the last 24 hours: bars, and each count that is not zero. */
export function RowHealth({ row: { subscription, buckets } }: { row: ListedSubscription }) {
  const first = buckets?.[0];
  const counts = KINDS.map((kind) => ({ kind, sum: sumOf(buckets ?? [], kind) })).filter(({ sum }) => sum > 0);
  if (buckets === undefined || first === undefined || counts.length === 0) return <span className="quietly">–</span>;
  return (
    <div className="row-health">
      <HealthBars buckets={buckets} />
      <span className="counts">
        {counts.map(({ kind, sum }) => (
          <HealthLink key={kind} kind={kind} since={first.at} action={subscription.action}>
            <KindMark kind={kind} /> {sum.toLocaleString()} {HEALTH[kind]}
          </HealthLink>
        ))}
      </span>
    </div>
  );
}
