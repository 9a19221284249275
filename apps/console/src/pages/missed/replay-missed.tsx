import { useMutation } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { told } from '../../api/ask.ts';
import type { Period } from '../../parts/period-field.tsx';
import { Failed } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';
import { ReplayProgress } from '../subscriptions/replay-progress.tsx';

const ALL_ACTIONS = '*';

/** Sends what was missed in a period, of all actions: previewed first, at the chosen rate, with its progress. */
export function ReplayMissed({ period: { since = '', until } }: { period: Period }) {
  const { ask } = useSignedIn();
  const [rate, setRate] = useState(10);
  const [isIncluded, setIncluded] = useState(true);
  const wish = {
    action: ALL_ACTIONS,
    since,
    ...(until !== undefined && { until }),
    per_second: rate,
    include_suppressed: isIncluded,
  };
  const preview = useMutation({
    mutationFn: () => told(ask.client.POST('/v1/replays', { body: { ...wish, dry_run: true } })),
  });
  const begin = useMutation({
    mutationFn: () => told(ask.client.POST('/v1/replays', { body: { ...wish, dry_run: false } })),
  });
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    preview.mutate();
  };
  if (begin.data !== undefined && 'guid' in begin.data) {
    return (
      <section className="card stack" aria-label="Replay">
        <h2>Replay</h2>
        <ReplayProgress guid={begin.data.guid} action="all actions" />
      </section>
    );
  }
  return (
    <section className="card stack" aria-label="Replay">
      <h2>Replay</h2>
      <form className="replay" onSubmit={submit} onChange={() => preview.reset()}>
        <label>
          Rate (deliveries per second)
          <input
            type="number"
            min={1}
            max={1_000}
            value={rate}
            onChange={({ target }) => setRate(Number(target.value))}
          />
        </label>
        <label className="choice">
          <input type="checkbox" checked={isIncluded} onChange={({ target }) => setIncluded(target.checked)} />
          Include events from while it was off or missing
        </label>
        <button type="submit" className="main" disabled={preview.isPending}>
          Preview
        </button>
      </form>
      <div aria-live="polite">
        {preview.error !== null && <Failed error={preview.error} />}
        {preview.data !== undefined && <Preview of={preview.data} />}
      </div>
      {preview.data !== undefined && preview.data.total > 0 && (
        <p>
          <button type="button" className="main" disabled={begin.isPending} onClick={() => begin.mutate()}>
            Replay {preview.data.total.toLocaleString()}
          </button>
        </p>
      )}
      {begin.error !== null && <Failed error={begin.error} />}
    </section>
  );
}

type PreviewProps = { of: { total: number; reasons?: { reason: string; count: number }[]; explanation?: string } };

function Preview({ of: { total, reasons = [], explanation } }: PreviewProps) {
  return (
    <>
      <p>
        <strong>{total === 0 ? 'Nothing to replay.' : `${total.toLocaleString()} to replay`}</strong> {explanation}
      </p>
      <ul className="line">
        {reasons.map(({ reason, count }) => (
          <li key={reason}>
            <code>{reason}</code> {count.toLocaleString()}
          </li>
        ))}
      </ul>
    </>
  );
}
