import { useState, type SyntheticEvent } from 'react';
import { told } from '../../api/ask.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogTools } from '../../parts/dialog-tools.tsx';
import { writtenHere } from '../../parts/time.ts';
import { forgetting } from '../../parts/faults.tsx';
import { useTell } from '../../parts/notices.tsx';
import { Failed } from '../../parts/states.tsx';
import { PAUSES } from '../../parts/words.ts';
import { useSignedIn } from '../../session/session.ts';
import { useSubscriptionChange, type Subscription } from './subscribing.ts';

type PauseProps = { subscription: Subscription; close: () => void };

/** How long that is, the API knows: a day, unless it is set otherwise. */
const LONGEST = 'The longest (1 day)';
const A_TIME = 'Until …';

/** Has what is due for a subscription wait for a while, at most as long as a delivery may wait. */
export function PauseDialog({ subscription: { guid, action }, close }: PauseProps) {
  const { ask } = useSignedIn();
  const tell = useTell();
  const [length, setLength] = useState<string>('1 hour');
  const [time, setTime] = useState('');
  const pause = useSubscriptionChange(
    (until: Date | undefined) =>
      told(
        ask.client.POST('/v1/subscriptions/{guid}/pause', {
          params: { path: { guid } },
          body: until === undefined ? {} : { until: until.toISOString() },
        }),
      ),
    ({ paused_until: until }) => {
      tell(until === undefined ? `${action} paused.` : `${action} paused until ${writtenHere(until)}.`);
      close();
    },
  );
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    pause.mutate(endOf(length, time));
  };
  return (
    <Dialog title={`Pause ${action}`} close={close}>
      <form onSubmit={submit} {...forgetting(pause)}>
        <p>Deliveries wait and are sent when the pause ends. A pause never switches a subscription off.</p>
        <label htmlFor="pause-length">Pause for</label>
        <select id="pause-length" value={length} onChange={(event) => setLength(event.target.value)}>
          {[...Object.keys(PAUSES), LONGEST, A_TIME].map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        {length === A_TIME && (
          <>
            <label htmlFor="pause-until">Until (within a day)</label>
            <input
              id="pause-until"
              type="datetime-local"
              required
              value={time}
              onChange={(event) => setTime(event.target.value)}
            />
          </>
        )}
        {pause.error !== null && <Failed error={pause.error} />}
        <DialogTools does="Pause" isPending={pause.isPending} close={close} />
      </form>
    </Dialog>
  );
}

function endOf(length: string, time: string): Date | undefined {
  if (length === A_TIME) return new Date(time);
  const ms = Object.entries(PAUSES).find(([name]) => name === length)?.[1];
  return ms === undefined ? undefined : new Date(Date.now() + ms);
}
