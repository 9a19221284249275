import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { Dialog, DialogTools } from '../../parts/dialog.tsx';
import { FaultsOf, Field, forgetting } from '../../parts/form.tsx';
import { useNotify } from '../../parts/notices.tsx';
import { Failed } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';

/** A subscription or host that an operator can stop. */
type Stoppable = { kind: 'subscription'; guid: string; action: string } | { kind: 'host'; host: string };

const POLL_EVERY_MS = 15_000;

/** Stops what is not stopped, and starts what is, once that is confirmed. */
export function StopButton({ what }: { what: Stoppable }) {
  // The question stays the one that was asked, whatever becomes of it meanwhile.
  const [asked, setAsked] = useState<'Start' | 'Stop'>();
  const stops = useStops();
  if (stops.data === undefined) return null;
  const { subscriptions, hosts } = stops.data;
  const isStopped =
    what.kind === 'host'
      ? hosts.some(({ host }) => host === what.host)
      : subscriptions.some(({ guid }) => guid === what.guid);
  const does = isStopped ? 'Start' : 'Stop';
  const Asked = asked === 'Start' ? StartDialog : StopDialog;
  return (
    <>
      <button
        type="button"
        className={isStopped ? '' : 'danger'}
        aria-label={`${does} ${stoppableName(what)}`}
        onClick={() => setAsked(does)}
      >
        {does}
      </button>
      {asked !== undefined && <Asked what={what} close={() => setAsked(undefined)} />}
    </>
  );
}

/** Stops or starts the host of a URL, where that has one. */
export const StopHost = ({ url }: { url: string | null }) =>
  URL.canParse(url ?? '') && <StopButton what={{ kind: 'host', host: new URL(url ?? '').hostname }} />;

/** Returns everything that is stopped now. */
export const useStops = () =>
  useAnswer(['stops'], ({ operator }) => operator.GET('/v1/admin/stops'), { refetchInterval: POLL_EVERY_MS });

/** Has what is due for a subscription or a host wait until an operator starts it, for a reason that its clients see. */
function StopDialog({ what, close }: { what: Stoppable; close: () => void }) {
  const { api } = useSignedIn();
  const [reason, setReason] = useState('');
  const stop = useStopChange(
    () =>
      what.kind === 'host'
        ? answerOf(
            api.operator.POST('/v1/admin/hosts/{host}/stop', {
              params: { path: { host: what.host } },
              body: { reason: reason.trim() },
            }),
          )
        : answerOf(
            api.operator.POST('/v1/admin/subscriptions/{guid}/stop', {
              params: { path: { guid: what.guid } },
              body: { reason: reason.trim() },
            }),
          ),
    `Stopped ${stoppableName(what)}.`,
    close,
  );
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    stop.mutate(undefined);
  };
  return (
    <Dialog title={`Stop ${stoppableName(what)}?`} close={close}>
      <form onSubmit={submit} {...forgetting(stop)}>
        {what.kind === 'host' && <p>Stops every subscription of every account whose URL has this host.</p>}
        <p>
          Deliveries wait until an operator starts it; those that wait too long are given up. The client sees the reason
          and cannot start it.
        </p>
        <FaultsOf error={stop.error}>
          <Field
            at="#/reason"
            label="Reason (shown to the client)"
            required
            maxLength={200}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        </FaultsOf>
        <DialogTools does="Stop" isDangerous isPending={stop.isPending} close={close} />
      </form>
    </Dialog>
  );
}

/** Has what was stopped sent again, what waits included. */
function StartDialog({ what, close }: { what: Stoppable; close: () => void }) {
  const { api } = useSignedIn();
  const start = useStopChange(
    () =>
      what.kind === 'host'
        ? answerOf(api.operator.POST('/v1/admin/hosts/{host}/start', { params: { path: { host: what.host } } }))
        : answerOf(
            api.operator.POST('/v1/admin/subscriptions/{guid}/start', { params: { path: { guid: what.guid } } }),
          ),
    `Started ${stoppableName(what)}.`,
    close,
  );
  return (
    <Dialog title={`Start ${stoppableName(what)}?`} close={close}>
      <p>
        Waiting deliveries are sent as fast as the endpoint accepts them. Subscriptions that are paused or switched off
        stay so.
      </p>
      {start.error !== null && <Failed error={start.error} />}
      <DialogTools does="Start" isPending={start.isPending} close={close} onClick={() => start.mutate(undefined)} />
    </Dialog>
  );
}

/** Stops or starts something, says so, and has what is shown asked for again. */
function useStopChange<Input>(change: (input: Input) => Promise<unknown>, said: string, close: () => void) {
  const queries = useQueryClient();
  const notify = useNotify();
  return useMutation({
    mutationFn: change,
    onSuccess: () => {
      notify(said);
      close();
    },
    onSettled: () => queries.invalidateQueries(),
  });
}

/** Returns its name for people. */
const stoppableName = (what: Stoppable): string =>
  what.kind === 'host' ? `host ${what.host}` : `subscription ${what.guid.slice(0, 8)} to ${what.action}`;
