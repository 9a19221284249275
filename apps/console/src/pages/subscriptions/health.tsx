import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { writtenHere } from '../../parts/time.ts';
import { HEALTH } from '../../parts/words.ts';
import type { HealthBucket } from './use-subscription-rows.ts';

export type HealthKind = keyof typeof HEALTH;
// In the order of the table.
export const KINDS = Object.keys(HEALTH) as HealthKind[];

const HEIGHT = 40;
const STEP = 10;

/** The last 24 hours, an hour a bar: how many were delivered, retried, given up and not sent. */
export function HealthBars({ buckets }: { buckets: readonly HealthBucket[] }) {
  const highest = Math.max(1, ...buckets.map(total));
  const inWords = KINDS.map((kind) => `${sumOf(buckets, kind)} ${HEALTH[kind]}`).join(', ');
  return (
    <svg
      className="bars"
      viewBox={`0 0 ${buckets.length * STEP} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={`The last 24 hours: ${inWords}`}
    >
      {buckets.map((bucket, place) => (
        <Bar key={bucket.at} bucket={bucket} x={place * STEP + 1} highest={highest} />
      ))}
    </svg>
  );
}

function Bar({ bucket, x, highest }: { bucket: HealthBucket; x: number; highest: number }) {
  // One among millions must be visible too.
  const heights = KINDS.map((kind) => (bucket[kind] === 0 ? 0 : Math.max(2, (bucket[kind] / highest) * (HEIGHT - 4))));
  const parts = KINDS.map((kind, place) => {
    const below = heights.slice(0, place + 1).reduce((sum, height) => sum + height, 0);
    return { kind, height: heights[place], y: HEIGHT - below };
  });
  return (
    <g>
      <title>{`${writtenHere(bucket.at)}: ${KINDS.map((kind) => `${bucket[kind]} ${HEALTH[kind]}`).join(', ')}`}</title>
      {parts.map(({ kind, height, y }) => (
        <rect key={kind} className={kind} x={x} y={y} width={STEP - 2} height={height} />
      ))}
    </g>
  );
}

type HealthLinkProps = {
  kind: HealthKind;
  /** When the first of the counted hours began. */
  since: string;
  /** Undefined for all actions. */
  action?: string | undefined;
  children: ReactNode;
};

/** Links a count to what it counts: deliveries, or what was missed if none was made. There is no list of attempts. */
export function HealthLink({ kind, since, action, children }: HealthLinkProps) {
  if (kind === 'retried') return <span title="Failed attempts that another followed">{children}</span>;
  if (kind === 'suppressed') {
    return (
      <Link to="/missed" search={{ since }}>
        {children}
      </Link>
    );
  }
  const status = { delivered: 'delivered', given_up: 'exhausted,dropped' }[kind];
  return (
    <Link to="/deliveries" search={{ status, since, ...(action !== undefined && { action }) }}>
      {children}
    </Link>
  );
}

/** A mark in the colour that a kind has in the bars. */
export const KindMark = ({ kind }: { kind: HealthKind }) => (
  <svg width="9" height="9" className="bars-key" aria-hidden="true">
    <rect width="9" height="9" rx="2" className={kind} />
  </svg>
);

export const sumOf = (buckets: readonly HealthBucket[], kind: HealthKind): number =>
  buckets.reduce((sum, bucket) => sum + bucket[kind], 0);

const total = (bucket: HealthBucket): number => KINDS.reduce((sum, kind) => sum + bucket[kind], 0);
