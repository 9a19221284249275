import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useEffect } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { Failed, Found } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';

type ProgressProps = {
  guid: string;
  /** The action of the replay. */
  action: string;
  pollEveryMs?: number;
};

/** The progress of a replay, polled until everything is delivered or it is cancelled. */
export function ReplayProgress({ guid, action, pollEveryMs = 1_000 }: ProgressProps) {
  const { api } = useSignedIn();
  const queries = useQueryClient();
  const path = { params: { path: { guid } } };
  const replay = useAnswer(['replay', guid], ({ client }) => client.GET('/v1/replays/{guid}', path), {
    refetchInterval: ({ state: { data } }) =>
      data === undefined || (data.cancelled_at === null && data.delivered < data.total) ? pollEveryMs : false,
  });
  const isOver = replay.data !== undefined && replay.data.delivered === replay.data.total;
  useEffect(() => {
    // The deliveries' states have changed.
    if (isOver) for (const each of ['deliveries', 'statistics']) void queries.invalidateQueries({ queryKey: [each] });
  }, [isOver, queries]);
  const cancel = useMutation({
    mutationFn: () => answerOf(api.client.DELETE('/v1/replays/{guid}', path)),
    onSuccess: () => queries.invalidateQueries({ queryKey: ['replay', guid] }),
  });
  return (
    <>
      <Found of={replay} what="the replay">
        {({ total, published, delivered, cancelled_at: cancelledAt }) => (
          <>
            <p role="status">
              {delivered.toLocaleString()} of {total.toLocaleString()} replayed ·{' '}
              {cancelledAt !== null
                ? 'Cancelled'
                : delivered === total
                  ? 'All delivered'
                  : `${published.toLocaleString()} sent. Runs on if you close this.`}
            </p>
            <progress aria-label={`Replay of ${action}`} max={total} value={delivered} />
            {cancelledAt === null && published < total && (
              <button type="button" className="danger" disabled={cancel.isPending} onClick={() => cancel.mutate()}>
                Cancel replay
              </button>
            )}
          </>
        )}
      </Found>
      {cancel.error !== null && <Failed error={cancel.error} />}
    </>
  );
}
