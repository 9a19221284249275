import { createContext, use, useState, type ReactNode } from 'react';
import { EditDialog } from './edit-dialog.tsx';
import { EndDialog } from './end-dialog.tsx';
import { PauseDialog } from './pause-dialog.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import type { Subscription } from './subscribing.ts';
import { SwitchOnDialog } from './switch-on-dialog.tsx';
import { TestDialog } from './test-dialog.tsx';
import { TokenDialog } from './token-dialog.tsx';

const DIALOGS = {
  test: TestDialog,
  pause: PauseDialog,
  replay: ReplayDialog,
  edit: EditDialog,
  token: TokenDialog,
  end: EndDialog,
};

type Asked = { dialog: keyof typeof DIALOGS | 'switch on'; subscriptions: readonly Subscription[] };
type Ask = (dialog: Asked['dialog'], subscriptions: Asked['subscriptions']) => void;

const AskContext = createContext<Ask>(() => undefined);

/** Opens a dialog about subscriptions: of one, but for `switch on`. */
export const useAsk = (): Ask => use(AskContext);

/** Has the dialogs of the rows in it: what is asked about a row stays open when its row moves or leaves. */
export function SubscriptionDialogs({ children }: { children: ReactNode }) {
  const [asked, setAsked] = useState<Asked>();
  const close = () => setAsked(undefined);
  return (
    <AskContext value={(dialog, subscriptions) => setAsked({ dialog, subscriptions })}>
      {children}
      {asked && <AskedDialog asked={asked} close={close} />}
    </AskContext>
  );
}

function AskedDialog({ asked: { dialog, subscriptions }, close }: { asked: Asked; close: () => void }) {
  if (dialog === 'switch on') return <SwitchOnDialog subscriptions={subscriptions} close={close} />;
  const [subscription] = subscriptions;
  const Dialog = DIALOGS[dialog];
  return subscription && <Dialog subscription={subscription} close={close} />;
}
