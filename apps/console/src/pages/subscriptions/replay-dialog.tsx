import { useMutation } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { told } from '../../api/ask.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Failed } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';
import { ReplayProgress } from './replay-progress.tsx';
import { useSubscriptionChange, type Subscription } from './subscribing.ts';

type ReplayProps = { subscription: Subscription; close: () => void };

const SINCE = { '1 hour': 1, '6 hours': 6, '1 day': 24, '3 days': 72, '7 days': 168 };
const HOUR_MS = 3_600_000;
/** As many hours as say: while it was off, whenever that was. */
const WHILE_OFF = 0;

/** What the client missed of an action: counted first, then sent again at a chosen rate, with its progress. */
export function ReplayDialog({ subscription: { guid, action, missed }, close }: ReplayProps) {
  const { ask } = useSignedIn();
  const [hours, setHours] = useState(missed === undefined ? 24 : WHILE_OFF);
  const [rate, setRate] = useState(10);
  const [isIncluded, setIncluded] = useState(true);
  const isWhileOff = hours === WHILE_OFF;
  const wish = () => ({
    per_second: rate,
    ...(isWhileOff
      ? { subscription_guid: guid, missed: true as const }
      : { action, since: new Date(Date.now() - hours * HOUR_MS).toISOString(), include_suppressed: isIncluded }),
  });
  const count = useMutation({
    mutationFn: () => told(ask.client.POST('/v1/replays', { body: { ...wish(), dry_run: true } })),
  });
  const begin = useSubscriptionChange(() =>
    told(ask.client.POST('/v1/replays', { body: { ...wish(), dry_run: false } })),
  );
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    count.mutate();
  };
  if (begin.data !== undefined && 'guid' in begin.data) {
    return (
      <Dialog title={`Replay of ${action}`} close={close}>
        <ReplayProgress guid={begin.data.guid} />
      </Dialog>
    );
  }
  return (
    <Dialog title={`What did we miss of ${action}?`} close={close}>
      <form onSubmit={submit} onChange={() => count.reset()}>
        <label htmlFor="since">When</label>
        <select id="since" value={hours} onChange={(event) => setHours(Number(event.target.value))}>
          {missed !== undefined && <option value={WHILE_OFF}>while it was switched off</option>}
          {Object.entries(SINCE).map(([name, value]) => (
            <option key={name} value={value}>
              in the last {name}
            </option>
          ))}
        </select>
        {!isWhileOff && (
          <label className="choice">
            <input type="checkbox" checked={isIncluded} onChange={(event) => setIncluded(event.target.checked)} />
            Also what was never made, because there was no subscription that was on
          </label>
        )}
        <label htmlFor="rate">Deliveries a second</label>
        <input
          id="rate"
          type="number"
          min={1}
          max={1_000}
          value={rate}
          onChange={(event) => setRate(Number(event.target.value))}
        />
        <button type="submit" className="main" disabled={count.isPending}>
          Count
        </button>
      </form>
      <div aria-live="polite">
        {count.error !== null && <Failed error={count.error} />}
        {count.data !== undefined && <Counted of={count.data} />}
      </div>
      {count.data !== undefined && count.data.total > 0 && (
        <button type="button" className="main" disabled={begin.isPending} onClick={() => begin.mutate()}>
          Send {count.data.total.toLocaleString()} again
        </button>
      )}
      {begin.error !== null && <Failed error={begin.error} />}
    </Dialog>
  );
}

type Count = { total: number; reasons?: { reason: string; count: number }[]; explanation?: string };

function Counted({ of: { total, reasons = [], explanation } }: { of: Count }) {
  return (
    <div className="why">
      <p>
        <strong>{total === 0 ? 'Nothing was missed.' : `${total.toLocaleString()} were missed.`}</strong> {explanation}
      </p>
      <ul>
        {reasons.map(({ reason, count }) => (
          <li key={reason}>
            <code>{reason}</code> {count.toLocaleString()}
          </li>
        ))}
      </ul>
    </div>
  );
}
