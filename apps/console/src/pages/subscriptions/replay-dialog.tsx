import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { REPLAYS } from '../../parts/words.ts';
import { ReplayForm } from './replay-form.tsx';
import type { Subscription } from './subscribing.ts';

type ReplayProps = { subscription: Subscription; close: () => void };

/** The time that stands for: while it was off. */
const WHILE_OFF = 0;

/** Sends again what the client missed of an action. */
export function ReplayDialog({ subscription: { guid, action, missed }, close }: ReplayProps) {
  const [ms, setMs] = useState<number>(missed === undefined ? REPLAYS['Last 24 hours'] : WHILE_OFF);
  return (
    <Dialog title={`Replay ${action}`} close={close}>
      <ReplayForm
        action={action}
        asksWhich={ms !== WHILE_OFF}
        requestOf={(isIncluded) =>
          ms === WHILE_OFF
            ? { subscription_guid: guid, missed: true }
            : { action, since: new Date(Date.now() - ms).toISOString(), include_suppressed: isIncluded }
        }
      >
        <label>
          Time range
          <select value={ms} onChange={({ target }) => setMs(Number(target.value))}>
            {missed !== undefined && <option value={WHILE_OFF}>While it was off</option>}
            {Object.entries(REPLAYS).map(([name, value]) => (
              <option key={name} value={value}>
                {name}
              </option>
            ))}
          </select>
        </label>
      </ReplayForm>
    </Dialog>
  );
}
