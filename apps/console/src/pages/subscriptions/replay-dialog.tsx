import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { told } from '../../api/ask.ts';
import { useTold } from '../../api/use-told.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { Failed, Found } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';
import type { Subscription } from './subscribing.ts';

type ReplayProps = { subscription: Subscription; close: () => void };

const SINCE = { '1 hour': 1, '6 hours': 6, '1 day': 24, '3 days': 72, '7 days': 168 };
const HOUR_MS = 3_600_000;
const LOOK_EVERY_MS = 1_000;

/** What the client missed of an action: counted first, then sent again at a chosen rate, with its progress. */
export function ReplayDialog({ subscription: { action }, close }: ReplayProps) {
  const { ask } = useSignedIn();
  const [hours, setHours] = useState(24);
  const [rate, setRate] = useState(10);
  const [isIncluded, setIncluded] = useState(true);
  const [begun, setBegun] = useState<string>();
  const count = useMutation({
    mutationFn: (wish: ReplayFields) => told(ask.client.POST('/v1/replays', { body: { ...wish, dry_run: true } })),
  });
  const begin = useMutation({
    mutationFn: (wish: ReplayFields) => told(ask.client.POST('/v1/replays', { body: { ...wish, dry_run: false } })),
    onSuccess: (replay) => 'guid' in replay && setBegun(replay.guid),
  });
  const wish = (): ReplayFields => ({
    action,
    since: new Date(Date.now() - hours * HOUR_MS).toISOString(),
    per_second: rate,
    include_suppressed: isIncluded,
  });
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    count.mutate(wish());
  };
  if (begun !== undefined) return <Progress guid={begun} action={action} close={close} />;
  return (
    <Dialog title={`What did we miss of ${action}?`} close={close}>
      <form onSubmit={submit} onChange={() => count.reset()}>
        <label htmlFor="since">In the last</label>
        <select id="since" value={hours} onChange={(event) => setHours(Number(event.target.value))}>
          {Object.entries(SINCE).map(([name, value]) => (
            <option key={name} value={value}>
              {name}
            </option>
          ))}
        </select>
        <label className="choice">
          <input type="checkbox" checked={isIncluded} onChange={(event) => setIncluded(event.target.checked)} />
          Also what was never made, because there was no subscription that was on
        </label>
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
        <button type="button" className="main" disabled={begin.isPending} onClick={() => begin.mutate(wish())}>
          Send {count.data.total.toLocaleString()} again
        </button>
      )}
      {begin.error !== null && <Failed error={begin.error} />}
    </Dialog>
  );
}

type ReplayFields = { action: string; since: string; per_second: number; include_suppressed: boolean };
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

function Progress({ guid, action, close }: { guid: string; action: string; close: () => void }) {
  const { ask } = useSignedIn();
  const queries = useQueryClient();
  const path = { params: { path: { guid } } };
  const replay = useTold(['replay', guid], ({ client }) => client.GET('/v1/replays/{guid}', path), {
    refetchInterval: ({ state: { data } }) =>
      data === undefined || (data.cancelled_at === null && data.delivered < data.total) ? LOOK_EVERY_MS : false,
  });
  const cancel = useMutation({
    mutationFn: () => told(ask.client.DELETE('/v1/replays/{guid}', path)),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['replay', guid] }),
  });
  return (
    <Dialog title={`Replay of ${action}`} close={close}>
      <Found of={replay} what="the replay">
        {({ total, published, delivered, cancelled_at: cancelledAt }) => (
          <>
            <label htmlFor="progress">
              {delivered.toLocaleString()} of {total.toLocaleString()} delivered, {published.toLocaleString()} handed
              out
            </label>
            <progress id="progress" max={total} value={delivered} />
            <p role="status">
              {cancelledAt !== null
                ? 'It is cancelled.'
                : delivered === total
                  ? 'All of it is delivered.'
                  : 'It goes on, also when this is closed.'}
            </p>
            {cancelledAt === null && published < total && (
              <button type="button" className="danger" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
                Cancel what was not sent yet
              </button>
            )}
          </>
        )}
      </Found>
      {cancel.error !== null && <Failed error={cancel.error} />}
    </Dialog>
  );
}
