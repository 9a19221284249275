import { useState } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { ReplayForm } from './replay-form.tsx';
import type { Subscription } from './subscribing.ts';

type ReplayProps = { subscription: Subscription; close: () => void };

const SINCE = { hour: 1, '6 hours': 6, '24 hours': 24, '3 days': 72, '7 days': 168 };
const HOUR_MS = 3_600_000;
/** Number of hours that stands for: while it was off. */
const WHILE_OFF = 0;

/** Sends again what the client missed of an action. */
export function ReplayDialog({ subscription: { guid, action, missed }, close }: ReplayProps) {
  const [hours, setHours] = useState(missed === undefined ? 24 : WHILE_OFF);
  return (
    <Dialog title={`Replay ${action}`} close={close}>
      <ReplayForm
        action={action}
        asksWhich={hours !== WHILE_OFF}
        requestOf={(isIncluded) =>
          hours === WHILE_OFF
            ? { subscription_guid: guid, missed: true }
            : { action, since: new Date(Date.now() - hours * HOUR_MS).toISOString(), include_suppressed: isIncluded }
        }
      >
        <label>
          Time range
          <select value={hours} onChange={({ target }) => setHours(Number(target.value))}>
            {missed !== undefined && <option value={WHILE_OFF}>While it was off</option>}
            {Object.entries(SINCE).map(([name, value]) => (
              <option key={name} value={value}>
                Last {name}
              </option>
            ))}
          </select>
        </label>
      </ReplayForm>
    </Dialog>
  );
}
