import { useNavigate } from '@tanstack/react-router';
import { Menu, type MenuItem } from '../../parts/menu.tsx';
import { ResumeButton } from './resume-button.tsx';
import { useAsk } from './subscription-dialogs.tsx';
import type { ListedSubscription } from './use-subscription-rows.ts';

/** A button with the action that repairs the subscription, and a menu with all others. For tokens that may change it. */
export function RowTools({ row: { subscription, condition } }: { row: ListedSubscription }) {
  const ask = useAsk();
  const navigate = useNavigate();
  const { guid, action, is_active: isActive, paused_until: pausedUntil, stopped } = subscription;
  const item = (name: string, dialog: Parameters<typeof ask>[0], isDangerous = false): MenuItem => ({
    name,
    onChoose: () => ask(dialog, [subscription]),
    isDangerous,
  });
  const items = [
    ...(stopped === undefined ? [item('Send a test', 'test')] : []),
    item('Replay', 'replay'),
    ...(isActive && pausedUntil === undefined ? [item('Pause', 'pause')] : []),
    item('Edit', 'edit'),
    item('Verification token', 'token'),
    { name: 'Deliveries', onChoose: () => void navigate({ to: '/deliveries', search: { subscription: guid } }) },
    item('Unsubscribe', 'end', true),
  ];
  return (
    <div className="row-tools">
      {condition === 'switched off' && (
        <button type="button" onClick={() => ask('switch on', [subscription])}>
          Switch on
        </button>
      )}
      {condition === 'missed' && (
        <button type="button" onClick={() => ask('replay', [subscription])}>
          Replay missed
        </button>
      )}
      {condition === 'paused' && <ResumeButton subscription={subscription} />}
      <Menu label={`Actions for ${action}`} items={items} />
    </div>
  );
}
