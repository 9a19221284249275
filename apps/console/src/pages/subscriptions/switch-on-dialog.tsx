import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { ProblemAnswer } from '../../api/problem.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { Dialog, DialogTools } from '../../parts/dialog.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { Moment, Status } from '../../parts/values.tsx';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { AttemptList } from '../find/attempts.tsx';
import type { DeliveryDetail } from '../find/delivery.ts';
import { ReplayProgress } from './replay-progress.tsx';
import { forEachConcurrently, isAccepted, type Subscription } from './subscriptions.ts';

/**
 * How far a subscription that is off has come. Each begins with a test, and each by itself:
 *
 *   testing ─► switching on ─► on (its replay begins)
 *      ├─► refused ─► switching on, if the user insists
 *      └─► failed, also from `switching on`
 */
type SwitchOnState =
  | { kind: 'testing' | 'switching on' }
  /** Its receiver refused the test, and it stays off. */
  | { kind: 'refused'; test: DeliveryDetail }
  /** `replay`: the guid of the replay of what it missed, if that was chosen and anything was missed. */
  | { kind: 'on'; missed: Subscription['missed']; replay?: string }
  /** `isOn`: it is on, but its replay could not begin. */
  | { kind: 'failed'; error: Error; isOn: boolean };

type SwitchOnProps = { subscriptions: readonly Subscription[]; close: () => void };

/** Tests the receivers of subscriptions that are off, switches on those whose receiver accepts the test and replays what they missed. */
export function SwitchOnDialog({ subscriptions, close }: SwitchOnProps) {
  const [isReplayed, setReplayed] = useState(true);
  const { states, isRunning, isOver, begin, switchOnAnyway } = useSwitchOn(subscriptions, isReplayed);
  const [first] = subscriptions;
  const isOne = subscriptions.length === 1;
  return (
    <Dialog
      title={isOne ? `Switch on ${first?.action}` : `Switch on ${subscriptions.length} subscriptions`}
      close={close}
    >
      <p>Sends a test first, and switches on where the receiver accepts it. Verification tokens stay the same.</p>
      <label className="choice">
        <input
          type="checkbox"
          checked={isReplayed}
          disabled={isRunning || isOver}
          onChange={(event) => setReplayed(event.target.checked)}
        />
        Replay what was missed
      </label>
      <ul className="steps">
        {subscriptions.map(({ guid, action }) => (
          <li key={guid} aria-label={action}>
            <SwitchOnProgress
              action={action}
              state={states.get(guid)}
              isRunning={isRunning}
              pollEveryMs={subscriptions.length * 1_000}
              switchOnAnyway={() => switchOnAnyway(guid)}
            />
          </li>
        ))}
      </ul>
      {isOver ? (
        <div className="tools">
          <button type="button" onClick={close}>
            Close
          </button>
        </div>
      ) : (
        <DialogTools
          does={isReplayed ? 'Test, switch on and replay' : 'Test and switch on'}
          isPending={isRunning}
          close={close}
          onClick={begin}
        />
      )}
    </Dialog>
  );
}

type SwitchOnProgressProps = {
  action: string;
  /** Undefined before the subscription is begun. */
  state: SwitchOnState | undefined;
  isRunning: boolean;
  pollEveryMs: number;
  switchOnAnyway: () => void;
};

/** The progress of switching on, and the result of each step. */
function SwitchOnProgress({ action, state, isRunning, pollEveryMs, switchOnAnyway }: SwitchOnProgressProps) {
  return (
    <>
      <div className="line" role="status">
        <strong>{action}</strong>
        {(state === undefined || state.kind === 'refused') && <Status of="switched off" />}
        {state?.kind === 'on' && <Status of="active" />}
      </div>
      {state?.kind === 'testing' && <Loading what="the answer to the test" />}
      {state?.kind === 'switching on' && <Loading what="the subscription" />}
      {state?.kind === 'failed' && <Failed error={state.error} />}
      {state?.kind === 'refused' && <Refused test={state.test} isRunning={isRunning} switchOnAnyway={switchOnAnyway} />}
      {state?.kind === 'on' && state.replay === undefined && <MissedCount missed={state.missed} />}
      {state?.kind === 'on' && state.replay !== undefined && (
        <ReplayProgress guid={state.replay} action={action} pollEveryMs={pollEveryMs} />
      )}
    </>
  );
}

type RefusedProps = {
  test: Extract<SwitchOnState, { kind: 'refused' }>['test'];
  isRunning: boolean;
  switchOnAnyway: () => void;
};

function Refused({ test: { guid, attempts }, isRunning, switchOnAnyway }: RefusedProps) {
  return (
    <>
      <p>
        <strong className="bad">The test failed.</strong> Switched on now, the subscription may soon be switched off
        again.
      </p>
      <AttemptList attempts={attempts} />
      <div className="tools">
        <button type="button" className="danger" disabled={isRunning} onClick={switchOnAnyway}>
          Switch on anyway
        </button>
        <Link to="/deliveries/$guid" params={{ guid }}>
          Open delivery
        </Link>
      </div>
    </>
  );
}

type MissedProps = { missed: { since: string; until: string; count?: number } | undefined };

/** How many a subscription missed while it was off, and when that was. */
function MissedCount({ missed }: MissedProps) {
  if (missed === undefined || missed.count === 0) return <p>Nothing missed</p>;
  return (
    <p>
      {missed.count !== undefined && <strong>{missed.count.toLocaleString()} missed </strong>}
      from <Moment at={missed.since} /> to <Moment at={missed.until} />
    </p>
  );
}

/**
 * Switches on subscriptions that are off, a few at a time. `begin` starts with the tests; `switchOnAnyway` leaves out the test of one.
 * Once the dialog is closed, no further step begins.
 */
function useSwitchOn(subscriptions: readonly Subscription[], isReplayed: boolean) {
  const switchOn = useSwitchOnSteps(isReplayed);
  const queries = useQueryClient();
  const isClosed = useRef(false);
  const [states, setStates] = useState<ReadonlyMap<string, SwitchOnState>>(new Map());
  useEffect(() => {
    isClosed.current = false;
    return () => {
      isClosed.current = true;
    };
  }, []);
  const go = async (guid: string, isTested: boolean) => {
    const report = (state: SwitchOnState) => setStates((before) => new Map(before).set(guid, state));
    if (!isClosed.current) await switchOn(guid, { isTested, report, isClosed: () => isClosed.current });
  };
  const run = useMutation({
    mutationFn: async ({ guids, isTested }: { guids: readonly string[]; isTested: boolean }) =>
      forEachConcurrently(guids, async (guid) => go(guid, isTested)),
    onSettled: () => queries.invalidateQueries({ queryKey: ['subscriptions'] }),
  });
  const off = subscriptions.map(({ guid }) => guid).filter((guid) => !isOn(states.get(guid)));
  return {
    states,
    isRunning: run.isPending,
    isOver: off.length === 0,
    begin: () => run.mutate({ guids: off, isTested: true }),
    switchOnAnyway: (guid: string) => run.mutate({ guids: [guid], isTested: false }),
  };
}

const isOn = (state: SwitchOnState | undefined): boolean =>
  state?.kind === 'on' || (state?.kind === 'failed' && state.isOn);

type Steps = { isTested: boolean; report: (state: SwitchOnState) => void; isClosed: () => boolean };

/** Returns a function that switches on one subscription, step by step, as far as it gets. */
function useSwitchOnSteps(isReplayed: boolean) {
  const { client } = useSignedIn().api;
  return async (guid: string, { isTested, report, isClosed }: Steps): Promise<void> => {
    const params = { path: { guid } };
    let hasSwitched = false;
    try {
      if (isTested) {
        report({ kind: 'testing' });
        const test = await answerOf(client.POST('/v1/subscriptions/{guid}/test', { params }));
        if (!isAccepted(test)) return report({ kind: 'refused', test });
      }
      if (isClosed()) return;
      report({ kind: 'switching on' });
      const { missed } = await answerOf(
        client.PATCH('/v1/subscriptions/{guid}', { params, body: { is_active: true } }),
      );
      hasSwitched = true;
      if (!isReplayed || isClosed() || (missed?.count ?? 0) === 0) return report({ kind: 'on', missed });
      const replay = await answerOf(client.POST('/v1/replays', { body: { subscription_guid: guid, missed: true } }));
      report({ kind: 'on', missed, ...('guid' in replay && { replay: replay.guid }) });
    } catch (error) {
      report({ kind: 'failed', error: error instanceof Error ? error : new Error(String(error)), isOn: hasSwitched });
    }
  };
}

type SendingFailedProps = {
  error: Error;
  /** The action to send; `*` means any. */
  action: string;
  /** Called when the dialog is closed. */
  forget: () => void;
};

/** A failure to send by hand; if a subscription is off, with a button that switches it on. */
export function SendingFailed({ error, action, forget }: SendingFailedProps) {
  const session = useSignedIn();
  const isOff = error instanceof ProblemAnswer && error.kind === 'switched-off' && mayWrite(session);
  return (
    <>
      <Failed error={error} />
      {isOff && <SwitchOnHere action={action} forget={forget} />}
    </>
  );
}

function SwitchOnHere({ action, forget }: Omit<SendingFailedProps, 'error'>) {
  const all = useAnswer(['subscriptions'], ({ client }) => client.GET('/v1/subscriptions'));
  const [opened, setOpened] = useState<readonly Subscription[]>();
  const off = (all.data?.objects ?? []).filter(
    (each) => !each.is_active && each.stopped === undefined && [each.action, '*'].includes(action),
  );
  return (
    <>
      {off.length > 0 && (
        <button type="button" className="main" onClick={() => setOpened(off)}>
          Switch on
        </button>
      )}
      {opened && <SwitchOnDialog subscriptions={opened} close={forget} />}
    </>
  );
}
