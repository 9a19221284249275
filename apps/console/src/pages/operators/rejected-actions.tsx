import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { useNotify } from '../../parts/notices.tsx';
import { Failed, Found } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { counted } from '../../parts/words.ts';
import { useSignedIn } from '../../session/session.ts';
import type { Purged, RejectedSelection, Retried } from './types.ts';

/** At most so many messages are listed; the rest is counted. */
const MOST_STAYING = 20;

type RejectedActionsProps = {
  /** Undefined if no message is selected. An open dialog stays, as it shows how its action went. */
  selection: RejectedSelection | undefined;
};

/** Actions on rejected messages, which stay unchanged. */
export function RejectedActions({ selection }: RejectedActionsProps) {
  const [dialog, setDialog] = useState<{ does: 'retry' | 'purge'; selection: RejectedSelection }>();
  const close = () => setDialog(undefined);
  return (
    <div className="tools">
      {selection !== undefined && (
        <>
          <button type="button" onClick={() => setDialog({ does: 'retry', selection })}>
            Retry …
          </button>
          <button type="button" className="danger" onClick={() => setDialog({ does: 'purge', selection })}>
            Purge …
          </button>
        </>
      )}
      {dialog?.does === 'retry' && <RetryDialog selection={dialog.selection} close={close} />}
      {dialog?.does === 'purge' && <PurgeDialog selection={dialog.selection} close={close} />}
    </div>
  );
}

type DialogProps = { selection: RejectedSelection; close: () => void };

/** Retries the selected messages: shows their number first, and the result afterwards. */
function RetryDialog({ selection, close }: DialogProps) {
  const { api } = useSignedIn();
  const queries = useQueryClient();
  const trial = useTrial(selection);
  const retry = useMutation({
    mutationFn: (chosen: RejectedSelection) =>
      answerOf(api.operator.POST('/v1/admin/rejected/retry', { body: chosen })),
    onSettled: () => queries.invalidateQueries({ queryKey: ['rejected'] }),
  });
  return (
    <Dialog title="Retry rejected messages?" close={close}>
      {retry.data === undefined ? (
        <Found of={trial} what="the count">
          {(found) => (
            <>
              <p>
                <strong>{counted(found.count, 'rejected message')}</strong> will be processed again without changes.
                What is still wrong is rejected again.
              </p>
              <Incomplete isComplete={found.is_complete} />
              {retry.error !== null && <Failed error={retry.error} />}
              <div className="tools">
                <button
                  type="button"
                  className="main"
                  disabled={retry.isPending || found.count === 0}
                  onClick={() => retry.mutate(countedOnly(found, selection))}
                >
                  {retry.isPending ? 'Retrying …' : `Retry ${found.count.toLocaleString()}`}
                </button>
                <button type="button" onClick={close}>
                  Cancel
                </button>
              </div>
            </>
          )}
        </Found>
      ) : (
        <RetryOutcome retried={retry.data} />
      )}
    </Dialog>
  );
}

function RetryOutcome({ retried: { retried, stayed, objects, is_complete } }: { retried: Retried }) {
  const staying = objects.filter((each) => each.kind === 'stays').slice(0, MOST_STAYING);
  return (
    <div role="status">
      <p>
        {counted(retried, 'message')} retried
        {stayed === 0 ? '.' : `, ${stayed.toLocaleString()} not retried:`}
      </p>
      <ul>
        {staying.map(({ id, why }) => (
          <li key={id}>
            <code>{id}</code> <Foreign text={why} />
          </li>
        ))}
      </ul>
      <Incomplete isComplete={is_complete} />
    </div>
  );
}

/** Deletes the selected messages once their number is confirmed, and only those that were counted. */
function PurgeDialog({ selection, close }: DialogProps) {
  const { api } = useSignedIn();
  const queries = useQueryClient();
  const notify = useNotify();
  const trial = useTrial(selection);
  const purge = useMutation({
    mutationFn: (chosen: RejectedSelection) =>
      answerOf(api.operator.POST('/v1/admin/rejected/purge', { body: { ...chosen, confirm: true } })),
    onSuccess: ({ count }) => {
      notify(`${counted(count, 'rejected message')} deleted.`);
      close();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['rejected'] }),
  });
  return (
    <Dialog title="Delete rejected messages?" close={close}>
      <Found of={trial} what="the count">
        {(found) => (
          <>
            <p>
              <strong>{counted(found.count, 'rejected message')}</strong> will be deleted and never sent. This cannot be
              undone.
            </p>
            <Incomplete isComplete={found.is_complete} />
            {purge.error !== null && <Failed error={purge.error} />}
            <div className="tools">
              <button
                type="button"
                className="danger"
                disabled={purge.isPending || found.count === 0}
                onClick={() => purge.mutate(countedOnly(found, selection))}
              >
                {purge.isPending ? 'Deleting …' : `Delete ${found.count.toLocaleString()}`}
              </button>
              <button type="button" onClick={close}>
                Cancel
              </button>
            </div>
          </>
        )}
      </Found>
    </Dialog>
  );
}

function Incomplete({ isComplete }: { isComplete: boolean }) {
  return isComplete ? null : <p className="why">Not all were read in time: there may be more.</p>;
}

/** Without a confirmation, a purge only counts. */
const useTrial = (selection: RejectedSelection) =>
  useAnswer(['trial', selection], ({ operator }) => operator.POST('/v1/admin/rejected/purge', { body: selection }), {
    gcTime: 0,
    staleTime: Infinity,
  });

/** Selects the counted messages, so that later ones stay; all that match, if there are more than can be named. */
function countedOnly({ count, objects }: Purged, selection: RejectedSelection): RejectedSelection {
  return count > 0 && objects.length === count ? { ids: objects.map(({ id }) => id) } : selection;
}
