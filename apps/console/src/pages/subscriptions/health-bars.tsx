import type { components } from '../../api/client-api.d.ts';
import { writtenHere } from '../../parts/moment.tsx';

type HealthBucket = components['schemas']['Statistics']['objects'][number]['buckets'][number];

const KINDS = ['delivered', 'retried', 'given_up', 'suppressed'] as const;
const NAMES = { delivered: 'delivered', retried: 'retried', given_up: 'given up', suppressed: 'suppressed' };
const HEIGHT = 40;
const STEP = 10;

/** The last 24 hours, an hour a bar: how many were delivered, retried, given up and suppressed. */
export function HealthBars({ buckets }: { buckets: readonly HealthBucket[] }) {
  const highest = Math.max(1, ...buckets.map(total));
  const sums = KINDS.map((kind) => ({ kind, sum: buckets.reduce((before, each) => before + each[kind], 0) }));
  const inWords = sums.map(({ kind, sum }) => `${sum} ${NAMES[kind]}`).join(', ');
  return (
    <div className="bars">
      <svg
        viewBox={`0 0 ${buckets.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
        role="img"
        aria-label={`The last 24 hours: ${inWords}`}
      >
        {buckets.map((bucket, place) => (
          <Bar key={bucket.at} bucket={bucket} x={place * STEP + 1} highest={highest} />
        ))}
      </svg>
      <span className="legend">
        {sums.map(({ kind, sum }) => (
          <span key={kind}>
            <svg width="10" height="10" className="key" aria-hidden="true">
              <rect width="10" height="10" className={kind} />
            </svg>{' '}
            {sum.toLocaleString()} {NAMES[kind]}
          </span>
        ))}
      </span>
    </div>
  );
}

function Bar({ bucket, x, highest }: { bucket: HealthBucket; x: number; highest: number }) {
  // One among millions is to be seen too.
  const heights = KINDS.map((kind) => (bucket[kind] === 0 ? 0 : Math.max(2, (bucket[kind] / highest) * (HEIGHT - 4))));
  const parts = KINDS.map((kind, place) => {
    const below = heights.slice(0, place + 1).reduce((sum, height) => sum + height, 0);
    return { kind, height: heights[place], y: HEIGHT - below };
  });
  return (
    <g>
      <title>{`${writtenHere(bucket.at)}: ${KINDS.map((kind) => `${bucket[kind]} ${NAMES[kind]}`).join(', ')}`}</title>
      {parts.map(({ kind, height, y }) => (
        <rect key={kind} className={kind} x={x} y={y} width={STEP - 2} height={height} />
      ))}
    </g>
  );
}

const total = (bucket: HealthBucket): number => KINDS.reduce((sum, kind) => sum + bucket[kind], 0);
