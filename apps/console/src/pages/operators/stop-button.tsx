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

/** Stops a subscription or host, or starts one that is stopped, once that is confirmed. */
export function StopButton({ what }: { what: Stoppable }) {
  // The dialog stays the one that was opened, whatever others stop or start meanwhile.
  const [opened, setOpened] = useState<'Start' | 'Stop'>();
  const stops = useStops();
  if (stops.data === undefined) return null;
  const { subscriptions, hosts } = stops.data;
  const isStopped =
    what.kind === 'host'
      ? hosts.some(({ host }) => host === what.host)
      : subscriptions.some(({ guid }) => guid === what.guid);
  const does = isStopped ? 'Start' : 'Stop';
  const StopOrStart = opened === 'Start' ? StartDialog : StopDialog;
  return (
    <>
      <button
        type="button"
        className={isStopped ? '' : 'danger'}
        aria-label={`${does} ${stoppableName(what)}`}
        onClick={() => setOpened(does)}
      >
        {does}
      </button>
      {opened !== undefined && <StopOrStart what={what} close={() => setOpened(undefined)} />}
    </>
  );
}

/** Stops or starts the host of a URL; nothing if there is none. */
export const StopHost = ({ url }: { url: string | null }) =>
  URL.canParse(url ?? '') && <StopButton what={{ kind: 'host', host: new URL(url ?? '').hostname }} />;

/** Returns everything that is stopped now. */
export const useStops = () =>
  useAnswer(['stops'], ({ operator }) => operator.GET('/v1/admin/stops'), { refetchInterval: POLL_EVERY_MS });

/** Stops a subscription or host: its deliveries wait until an operator starts it. Clients see the reason. */
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
    stop.mutate();
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

/** Starts a stopped subscription or host: its deliveries are sent again, those that wait too. */
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
      <DialogTools does="Start" isPending={start.isPending} close={close} onClick={() => start.mutate()} />
    </Dialog>
  );
}

/** Stops or starts something, notifies the user, and reloads what is shown. */
function useStopChange(change: () => Promise<unknown>, notice: string, close: () => void) {
  const queries = useQueryClient();
  const notify = useNotify();
  return useMutation({
    mutationFn: change,
    onSuccess: () => {
      notify(notice);
      close();
    },
    onSettled: () => queries.invalidateQueries(),
  });
}

/** Names what is stopped, for people. */
const stoppableName = (what: Stoppable): string =>
  what.kind === 'host' ? `host ${what.host}` : `subscription ${what.guid.slice(0, 8)} to ${what.action}`;
