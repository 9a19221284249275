import { useMutation } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { told } from '../../api/ask.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Failed } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';
import { ReplayProgress } from './replay-progress.tsx';
import { useSubscriptionChange, type Subscription } from './subscribing.ts';

type ReplayProps = { subscription: Subscription; close: () => void };

const SINCE = { hour: 1, '6 hours': 6, '24 hours': 24, '3 days': 72, '7 days': 168 };
const HOUR_MS = 3_600_000;
/** As many hours as say: while it was off, whenever that was. */
const WHILE_OFF = 0;

type ReplayChoice = { hours: number; rate: number; isIncluded: boolean };

/** What the client missed of an action: counted first, then sent again at a chosen rate, with its progress. */
export function ReplayDialog({ subscription: { guid, action, missed }, close }: ReplayProps) {
  const { ask } = useSignedIn();
  const [choice, setChoice] = useState<ReplayChoice>({
    hours: missed === undefined ? 24 : WHILE_OFF,
    rate: 10,
    isIncluded: true,
  });
  const wish = ({ hours, rate, isIncluded }: ReplayChoice) => ({
    per_second: rate,
    ...(hours === WHILE_OFF
      ? { subscription_guid: guid, missed: true as const }
      : { action, since: new Date(Date.now() - hours * HOUR_MS).toISOString(), include_suppressed: isIncluded }),
  });
  const count = useMutation({
    mutationFn: () => told(ask.client.POST('/v1/replays', { body: { ...wish(choice), dry_run: true } })),
  });
  const begin = useSubscriptionChange(() =>
    told(ask.client.POST('/v1/replays', { body: { ...wish(choice), dry_run: false } })),
  );
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    count.mutate();
  };
  if (begin.data !== undefined && 'guid' in begin.data) {
    return (
      <Dialog title={`Replay ${action}`} close={close}>
        <ReplayProgress guid={begin.data.guid} action={action} />
      </Dialog>
    );
  }
  return (
    <Dialog title={`Replay ${action}`} close={close}>
      <form onSubmit={submit} onChange={() => count.reset()}>
        <ReplayFields choice={choice} choose={setChoice} wasOff={missed !== undefined} />
        <button type="submit" className="main" disabled={count.isPending}>
          Preview
        </button>
      </form>
      <div aria-live="polite">
        {count.error !== null && <Failed error={count.error} />}
        {count.data !== undefined && <Counted of={count.data} />}
      </div>
      {count.data !== undefined && count.data.total > 0 && (
        <button type="button" className="main" disabled={begin.isPending} onClick={() => begin.mutate()}>
          Replay {count.data.total.toLocaleString()}
        </button>
      )}
      {begin.error !== null && <Failed error={begin.error} />}
    </Dialog>
  );
}

type FieldsProps = { choice: ReplayChoice; choose: (choice: ReplayChoice) => void; wasOff: boolean };

function ReplayFields({ choice, choose, wasOff }: FieldsProps) {
  const { hours, rate, isIncluded } = choice;
  return (
    <>
      <label htmlFor="since">Time range</label>
      <select id="since" value={hours} onChange={(event) => choose({ ...choice, hours: Number(event.target.value) })}>
        {wasOff && <option value={WHILE_OFF}>While it was off</option>}
        {Object.entries(SINCE).map(([name, value]) => (
          <option key={name} value={value}>
            Last {name}
          </option>
        ))}
      </select>
      {hours !== WHILE_OFF && (
        <label className="choice">
          <input
            type="checkbox"
            checked={isIncluded}
            onChange={(event) => choose({ ...choice, isIncluded: event.target.checked })}
          />
          Include events from while it was off or missing
        </label>
      )}
      <label htmlFor="rate">Rate (deliveries per second)</label>
      <input
        id="rate"
        type="number"
        min={1}
        max={1_000}
        value={rate}
        onChange={(event) => choose({ ...choice, rate: Number(event.target.value) })}
      />
    </>
  );
}

type Count = { total: number; reasons?: { reason: string; count: number }[]; explanation?: string };

function Counted({ of: { total, reasons = [], explanation } }: { of: Count }) {
  return (
    <div className="why">
      <p>
        <strong>{total === 0 ? 'Nothing missed.' : `${total.toLocaleString()} missed.`}</strong> {explanation}
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
