import { useMutation, useQueryClient } from '@tanstack/react-query';
import { told } from '../../api/ask.ts';
import { useTold } from '../../api/use-told.ts';
import { Failed, Found } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';

const LOOK_EVERY_MS = 1_000;

/** How far a replay is, until all of it is delivered or it is cancelled. */
export function ReplayProgress({ guid }: { guid: string }) {
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
    <>
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
    </>
  );
}
