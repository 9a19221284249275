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
import type { Subscription } from './subscriptions.ts';
import { eachAtMost, isAccepted } from './use-tests.ts';

/** How far a subscription that was off has come. */
type WayBack =
  | { kind: 'testing' | 'switching on' }
  /** Its receiver did not take the test, and it stays off. */
  | { kind: 'refused'; test: DeliveryDetail }
  /** `replay`: the guid of that of what it missed, where that was asked for and something was. */
  | { kind: 'on'; missed: Subscription['missed']; replay?: string }
  /** `isOn`: it is on, and only its replay could not begin. */
  | { kind: 'failed'; error: Error; isOn: boolean };

/** Each is a test of a receiver, which may take its time; more at once would be refused as too many requests. */
const AT_ONCE = 4;

type SwitchOnProps = { subscriptions: readonly Subscription[]; close: () => void };

/** Tests the receivers of subscriptions that are off, switches on those whose receiver took it and replays what they missed. */
export function SwitchOnDialog({ subscriptions, close }: SwitchOnProps) {
  const [isReplayed, setReplayed] = useState(true);
  const { ways, isRunning, isOver, begin, goOn } = useWaysBack(subscriptions, isReplayed);
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
            <Way
              action={action}
              way={ways.get(guid)}
              isRunning={isRunning}
              pollEveryMs={subscriptions.length * 1_000}
              goOn={() => goOn(guid)}
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

type WayProps = {
  action: string;
  /** Undefined before its turn. */
  way: WayBack | undefined;
  isRunning: boolean;
  pollEveryMs: number;
  goOn: () => void;
};

/** The progress of switching on, and the result of each step. */
function Way({ action, way, isRunning, pollEveryMs, goOn }: WayProps) {
  return (
    <>
      <div className="line" role="status">
        <strong>{action}</strong>
        {(way === undefined || way.kind === 'refused') && <Status of="switched off" />}
        {way?.kind === 'on' && <Status of="active" />}
      </div>
      {way?.kind === 'testing' && <Loading what="the answer to the test" />}
      {way?.kind === 'switching on' && <Loading what="the subscription" />}
      {way?.kind === 'failed' && <Failed error={way.error} />}
      {way?.kind === 'refused' && <Refused test={way.test} isRunning={isRunning} goOn={goOn} />}
      {way?.kind === 'on' && way.replay === undefined && <MissedCount missed={way.missed} />}
      {way?.kind === 'on' && way.replay !== undefined && (
        <ReplayProgress guid={way.replay} action={action} pollEveryMs={pollEveryMs} />
      )}
    </>
  );
}

type RefusedProps = { test: Extract<WayBack, { kind: 'refused' }>['test']; isRunning: boolean; goOn: () => void };

function Refused({ test: { guid, attempts }, isRunning, goOn }: RefusedProps) {
  return (
    <>
      <p>
        <strong className="bad">The test failed.</strong> Switched on now, the subscription may soon be switched off
        again.
      </p>
      <AttemptList attempts={attempts} />
      <div className="tools">
        <button type="button" className="danger" disabled={isRunning} onClick={goOn}>
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
 * The way back of subscriptions that are off, each for itself in steps: a test, switching it on in place, replaying what it missed. Each
 * step follows where the one before went well; `goOn` switches one on whatever its test said. Once the dialog is closed, nothing more begins.
 */
function useWaysBack(subscriptions: readonly Subscription[], isReplayed: boolean) {
  const take = useSteps(isReplayed);
  const queries = useQueryClient();
  const isClosed = useRef(false);
  const [ways, setWays] = useState<ReadonlyMap<string, WayBack>>(new Map());
  useEffect(() => {
    isClosed.current = false;
    return () => {
      isClosed.current = true;
    };
  }, []);
  const go = async (guid: string, isTested: boolean) => {
    const report = (way: WayBack) => setWays((before) => new Map(before).set(guid, way));
    if (!isClosed.current) await take(guid, { isTested, report, isClosed: () => isClosed.current });
  };
  const run = useMutation({
    mutationFn: async ({ guids, isTested }: { guids: readonly string[]; isTested: boolean }) =>
      eachAtMost(guids, { atOnce: AT_ONCE, work: async (guid) => go(guid, isTested) }),
    onSettled: () => queries.invalidateQueries({ queryKey: ['subscriptions'] }),
  });
  const off = subscriptions.map(({ guid }) => guid).filter((guid) => !isOn(ways.get(guid)));
  return {
    ways,
    isRunning: run.isPending,
    isOver: off.length === 0,
    begin: () => run.mutate({ guids: off, isTested: true }),
    goOn: (guid: string) => run.mutate({ guids: [guid], isTested: false }),
  };
}

const isOn = (way: WayBack | undefined): boolean => way?.kind === 'on' || (way?.kind === 'failed' && way.isOn);

type Steps = { isTested: boolean; report: (way: WayBack) => void; isClosed: () => boolean };

/** Takes one subscription back, step by step, as far as it goes. */
function useSteps(isReplayed: boolean) {
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
  /** Called once the way back was gone. */
  forget: () => void;
};

/** A failure to send by hand; where a subscription is off, with the way to switch it on. */
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
  const [asked, setAsked] = useState<readonly Subscription[]>();
  const off = (all.data?.objects ?? []).filter(
    (each) => !each.is_active && each.stopped === undefined && [each.action, '*'].includes(action),
  );
  return (
    <>
      {off.length > 0 && (
        <button type="button" className="main" onClick={() => setAsked(off)}>
          Switch on
        </button>
      )}
      {asked && <SwitchOnDialog subscriptions={asked} close={forget} />}
    </>
  );
}
