import { useState, type ReactNode } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogTools } from '../../parts/dialog-tools.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { AttemptList } from '../find/attempt-list.tsx';
import { MissedCount } from './missed.tsx';
import { ReplayProgress } from './replay-progress.tsx';
import type { Subscription } from './subscribing.ts';
import { useSwitchOn } from './use-switch-on.ts';
import { isTaken } from './use-test.ts';

type SwitchOnProps = { subscription: Subscription; close: () => void };

/** Tests the receiver of a subscription that is off, switches it on and replays what it missed. Where the test fails, it stops and asks. */
export function SwitchOnDialog({ subscription: { guid, action }, close }: SwitchOnProps) {
  const [isReplayed, setReplayed] = useState(true);
  const { test, switchOn, replay, begin, goOn } = useSwitchOn(guid, isReplayed);
  const isRunning = test.isPending || switchOn.isPending || replay.isPending;
  const hasFailed = test.error !== null || (test.data !== undefined && !isTaken(test.data));
  const isOn = switchOn.data !== undefined;
  const isNothingMissed = isOn && switchOn.data.missed === undefined;
  return (
    <Dialog title={`Switch on ${action}`} close={close}>
      <p>
        A test is sent to your receiver first. If it succeeds, the subscription is switched on; its verification token
        stays the same.
      </p>
      <label className="choice">
        <input
          type="checkbox"
          checked={isReplayed}
          disabled={isRunning || isOn}
          onChange={(event) => setReplayed(event.target.checked)}
        />
        Replay what was missed
      </label>
      <ol className="steps">
        <Step name="Send a test" of={test} hasFailed={hasFailed}>
          {({ attempts }) => <AttemptList attempts={attempts} />}
        </Step>
        <Step name="Switch on" of={switchOn}>
          {({ missed }) => <MissedCount missed={missed} />}
        </Step>
        {isReplayed && !isNothingMissed && (
          <Step name="Replay what was missed" of={replay} done="begun">
            {(begun) => 'guid' in begun && <ReplayProgress guid={begun.guid} />}
          </Step>
        )}
      </ol>
      {hasFailed && !isOn && !isRunning && (
        <p className="why">
          The test failed. If you switch the subscription on now, it may soon be switched off again.{' '}
          <button type="button" className="danger" onClick={goOn}>
            Switch on anyway
          </button>
        </p>
      )}
      {isOn ? (
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

type StepProps<T> = {
  name: string;
  of: { isPending: boolean; error: Error | null; data: T | undefined };
  hasFailed?: boolean;
  /** What it is called once it went well. */
  done?: string;
  children: (answer: T) => ReactNode;
};

/** A step, how far it is, and what came of it. */
function Step<T>({
  name,
  of: { isPending, error, data },
  hasFailed = error !== null,
  done = 'done',
  children,
}: StepProps<T>) {
  const isOver = data !== undefined || error !== null;
  return (
    <li>
      <div className="line" role="status">
        <strong>{name}</strong>
        {isOver && !isPending && <Status of={hasFailed ? 'failed' : done} />}
      </div>
      {isPending && <Loading what="the answer" />}
      {error !== null && <Failed error={error} />}
      {data !== undefined && children(data)}
    </li>
  );
}
