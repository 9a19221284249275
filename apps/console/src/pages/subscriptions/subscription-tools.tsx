import { useState } from 'react';
import { ChangeDialog } from './change-dialog.tsx';
import { EndDialog } from './end-dialog.tsx';
import { PauseDialog } from './pause-dialog.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { ResumeButton } from './resume-button.tsx';
import type { Subscription } from './subscribing.ts';
import { SwitchOnDialog } from './switch-on-dialog.tsx';
import { TestDialog } from './test-dialog.tsx';

const DIALOGS = {
  'switch on': SwitchOnDialog,
  test: TestDialog,
  pause: PauseDialog,
  replay: ReplayDialog,
  change: ChangeDialog,
  end: EndDialog,
};

/** What can be done to a subscription as it stands, by a token that may change it. */
export function SubscriptionTools({ subscription }: { subscription: Subscription }) {
  const [asking, setAsking] = useState<keyof typeof DIALOGS>();
  const close = () => setAsking(undefined);
  const Asked = asking && DIALOGS[asking];
  const { is_active: isActive, paused_until: pausedUntil, stopped, missed } = subscription;
  const open = (dialog: keyof typeof DIALOGS, name: string, style = '') => (
    <button type="button" className={style} onClick={() => setAsking(dialog)}>
      {name}
    </button>
  );
  return (
    <div className="tools">
      {!isActive && open('switch on', 'Switch on', 'main')}
      {isActive && pausedUntil !== undefined && <ResumeButton subscription={subscription} />}
      {stopped === undefined && open('test', 'Send a test')}
      {open('replay', isActive && missed !== undefined ? 'Replay what was missed' : 'What did we miss?')}
      {isActive && pausedUntil === undefined && open('pause', 'Pause')}
      {open('change', 'Change')}
      {open('end', 'Unsubscribe', 'danger')}
      {Asked && <Asked subscription={subscription} close={close} />}
    </div>
  );
}
