import { mayWrite, useSignedIn } from '../../session/session.ts';
import { useAsk } from './subscription-dialogs.tsx';
import type { ListedSubscription } from './use-subscription-rows.ts';

/** The way back from an outage for all that are off, as one button; nothing where none is. */
export function SwitchOnAll({ rows }: { rows: readonly ListedSubscription[] }) {
  const session = useSignedIn();
  const ask = useAsk();
  const off = rows.filter(({ condition }) => condition === 'switched off').map(({ subscription }) => subscription);
  if (off.length === 0 || !mayWrite(session)) return null;
  return (
    <button type="button" className="main" onClick={() => ask('switch on', off)}>
      Test, switch on and replay{off.length > 1 && ` ${off.length}`}
    </button>
  );
}
