import { Link } from '@tanstack/react-router';
import { useState } from 'react';
import { ProblemAnswer } from '../../api/problem.ts';
import { useTold } from '../../api/use-told.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogTools } from '../../parts/dialog-tools.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { AttemptList } from '../find/attempt-list.tsx';
import { MissedCount } from './missed.tsx';
import { ReplayProgress } from './replay-progress.tsx';
import type { Subscription } from './subscribing.ts';
import { useWaysBack, type WayBack } from './use-ways-back.ts';

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
              lookEveryMs={subscriptions.length * 1_000}
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
  lookEveryMs: number;
  goOn: () => void;
};

/** The progress of switching on, and the result of each step. */
function Way({ action, way, isRunning, lookEveryMs, goOn }: WayProps) {
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
        <ReplayProgress guid={way.replay} action={action} lookEveryMs={lookEveryMs} />
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
  const all = useTold(['subscriptions'], ({ client }) => client.GET('/v1/subscriptions'));
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
