import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode, type SyntheticEvent } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { useSignedIn } from '../../session/session.ts';
import { ReplayProgress } from './replay-progress.tsx';
import { useSubscriptionChange } from './subscriptions.ts';
import { SendingFailed } from './switch-on-dialog.tsx';

/** The request that the API takes. */
type ReplayInput =
  | { subscription_guid: string; missed: true }
  | { action: string; since: string; until?: string; include_suppressed: boolean };

type ReplayFormProps = {
  /** Returns the request, with or without events that made no delivery. */
  requestOf: (isIncluded: boolean) => ReplayInput;
  /** An action; `*` means all. */
  action: string;
  /** Whether the user chooses if events without a delivery are included. */
  asksWhich?: boolean;
  /** Further fields. */
  children?: ReactNode;
};

/** Replays what was missed, at the chosen rate: a preview first, then the progress. */
export function ReplayForm({ requestOf, action, asksWhich = true, children }: ReplayFormProps) {
  const { api } = useSignedIn();
  const [rate, setRate] = useState(10);
  const [isIncluded, setIncluded] = useState(true);
  const send = async (isDry: boolean) =>
    answerOf(api.client.POST('/v1/replays', { body: { ...requestOf(isIncluded), per_second: rate, dry_run: isDry } }));
  const preview = useMutation({ mutationFn: async () => send(true) });
  const begin = useSubscriptionChange(async () => send(false));
  // Once the form changes, its preview is obsolete.
  const forget = () => {
    preview.reset();
    if (begin.isError) begin.reset();
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    forget();
    preview.mutate();
  };
  if (begin.data !== undefined && 'guid' in begin.data)
    return <ReplayProgress guid={begin.data.guid} action={action === '*' ? 'all actions' : action} />;
  return (
    <>
      <form className="replay" onSubmit={submit} onChange={forget}>
        {children}
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
        {asksWhich && (
          <label className="choice">
            <input type="checkbox" checked={isIncluded} onChange={({ target }) => setIncluded(target.checked)} />
            Include events from while it was off or missing
          </label>
        )}
        <button type="submit" className="main" disabled={preview.isPending}>
          Preview
        </button>
      </form>
      <div className="why" aria-live="polite">
        {preview.error !== null && <SendingFailed error={preview.error} action={action} forget={forget} />}
        {preview.data !== undefined && <Preview of={preview.data} />}
      </div>
      {preview.data !== undefined && preview.data.total > 0 && (
        <p>
          <button type="button" className="main" disabled={begin.isPending} onClick={() => begin.mutate()}>
            Replay {preview.data.total.toLocaleString()}
          </button>
        </p>
      )}
      {begin.error !== null && <SendingFailed error={begin.error} action={action} forget={forget} />}
    </>
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
