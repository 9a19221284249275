import { Link } from '@tanstack/react-router';
import { createContext, use, useEffect, useRef, useState, type ReactNode, type SyntheticEvent } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { Dialog, DialogTools } from '../../parts/dialog.tsx';
import { forgetting } from '../../parts/form.tsx';
import { useNotify } from '../../parts/notices.tsx';
import { Failed, Found, Loading } from '../../parts/states.tsx';
import { CopyButton } from '../../parts/text-block.tsx';
import { writtenHere } from '../../parts/time.ts';
import { PAUSES, REPLAYS } from '../../parts/words.ts';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { AttemptList } from '../find/attempts.tsx';
import { ReplayForm } from './replay-form.tsx';
import { AuditFields, CallbackUrlField } from './subscription-fields.tsx';
import {
  unsubscribe,
  useOffered,
  useSubscriptionChange,
  useTest,
  type OfferedAction,
  type Subscription,
} from './subscriptions.ts';
import { SwitchOnDialog } from './switch-on-dialog.tsx';
import type { ListedSubscription } from './use-subscription-rows.ts';

const DIALOGS = {
  test: TestDialog,
  pause: PauseDialog,
  replay: ReplayDialog,
  edit: EditDialog,
  token: TokenDialog,
  end: EndDialog,
};

type SubscriptionDialogProps = { subscription: Subscription; close: () => void };

type DialogSubject = { dialog: keyof typeof DIALOGS | 'switch on'; subscriptions: readonly Subscription[] };
type OpenSubscriptionDialog = (dialog: DialogSubject['dialog'], subscriptions: DialogSubject['subscriptions']) => void;

const OpenDialogContext = createContext<OpenSubscriptionDialog>(() => undefined);

/** Returns a function that opens a dialog about one subscription, or for `switch on` about several. */
export const useOpenDialog = (): OpenSubscriptionDialog => use(OpenDialogContext);

/** Shows the dialogs that rows within it open. A dialog stays open when its row moves or leaves. */
export function SubscriptionDialogs({ children }: { children: ReactNode }) {
  const [subject, setSubject] = useState<DialogSubject>();
  const close = () => setSubject(undefined);
  return (
    <OpenDialogContext value={(dialog, subscriptions) => setSubject({ dialog, subscriptions })}>
      {children}
      {subject && <DialogAbout subject={subject} close={close} />}
    </OpenDialogContext>
  );
}

function DialogAbout({ subject: { dialog, subscriptions }, close }: { subject: DialogSubject; close: () => void }) {
  if (dialog === 'switch on') return <SwitchOnDialog subscriptions={subscriptions} close={close} />;
  const [subscription] = subscriptions;
  const Opened = DIALOGS[dialog];
  return subscription && <Opened subscription={subscription} close={close} />;
}

/** A button that switches on all subscriptions that are off, as after an outage; nothing if none is off. */
export function SwitchOnAll({ rows }: { rows: readonly ListedSubscription[] }) {
  const session = useSignedIn();
  const open = useOpenDialog();
  const off = rows.filter(({ condition }) => condition === 'switched off').map(({ subscription }) => subscription);
  if (off.length === 0 || !mayWrite(session)) return null;
  return (
    <button type="button" className="main" onClick={() => open('switch on', off)}>
      Test, switch on and replay{off.length > 1 && ` ${off.length}`}
    </button>
  );
}

/** Sends the example of the action, once, and shows the answer of the receiver. */
function TestDialog({ subscription: { guid, action }, close }: SubscriptionDialogProps) {
  const test = useTest(guid);
  const hasBegun = useRef(false);
  useEffect(() => {
    // Once, though React runs effects twice in strict mode.
    if (!hasBegun.current) test.mutate();
    hasBegun.current = true;
  });
  return (
    <Dialog title={`Test of ${action}`} close={close}>
      <p className="small">
        The action's example, signed like any other, with the header <code>X-Webhook-Test: true</code>.
      </p>
      <div aria-live="polite">
        {test.isPending && <Loading what="the response" />}
        {test.error !== null && <Failed error={test.error} retry={() => test.mutate()} />}
        {test.data !== undefined && (
          <>
            <AttemptList attempts={test.data.attempts} />
            <div className="tools">
              <button type="button" onClick={() => test.mutate()}>
                Send again
              </button>
              <Link to="/deliveries/$guid" params={{ guid: test.data.guid }}>
                Open delivery
              </Link>
            </div>
          </>
        )}
      </div>
    </Dialog>
  );
}

/** The API decides how long that is: a day, unless it is set otherwise. */
const LONGEST = 'The longest (1 day)';
const A_TIME = 'Until …';

/** Pauses a subscription: its deliveries wait for a while, at most as long as a delivery may wait. */
function PauseDialog({ subscription: { guid, action }, close }: SubscriptionDialogProps) {
  const { api } = useSignedIn();
  const notify = useNotify();
  const [length, setLength] = useState<string>('1 hour');
  const [time, setTime] = useState('');
  const pause = useSubscriptionChange(
    (until: Date | undefined) =>
      answerOf(
        api.client.POST('/v1/subscriptions/{guid}/pause', {
          params: { path: { guid } },
          body: until === undefined ? {} : { until: until.toISOString() },
        }),
      ),
    ({ paused_until: until }) => {
      notify(until === undefined ? `${action} paused.` : `${action} paused until ${writtenHere(until)}.`);
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

/** The choice of the time while the subscription was off. */
const WHILE_OFF = 0;

/** Sends again what the client missed of an action. */
function ReplayDialog({ subscription: { guid, action, missed }, close }: SubscriptionDialogProps) {
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

/** Changes a subscription in place: its verification token and its history stay. */
function EditDialog({ subscription, close }: SubscriptionDialogProps) {
  const offered = useOffered();
  return (
    <Dialog title={`Edit ${subscription.action}`} close={close}>
      <Found of={offered} what="the actions">
        {(actions) => (
          <EditForm
            subscription={subscription}
            offered={actions.find(({ action }) => action === subscription.action)}
            close={close}
          />
        )}
      </Found>
    </Dialog>
  );
}

function EditForm({ subscription, offered, close }: SubscriptionDialogProps & { offered: OfferedAction | undefined }) {
  const { guid, action, is_active: isActive } = subscription;
  const { api } = useSignedIn();
  const notify = useNotify();
  const [callbackUrl, setCallbackUrl] = useState(subscription.callback_url);
  const [fields, setFields] = useState(subscription.audit_field_set);
  const save = useSubscriptionChange(
    () =>
      answerOf(
        api.client.PATCH('/v1/subscriptions/{guid}', {
          params: { path: { guid } },
          body: {
            callback_url: callbackUrl,
            ...(offered?.audit_fields !== undefined && { audit_field_set: fields ?? null }),
          },
        }),
      ),
    () => {
      notify(`${action} saved.`);
      close();
    },
  );
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form onSubmit={submit} {...forgetting(save)}>
      <p className="small">
        The verification token stays the same.
        {!isActive && ' The subscription stays switched off until you switch it on.'}
      </p>
      <CallbackUrlField value={callbackUrl} change={setCallbackUrl} />
      {offered?.audit_fields !== undefined && (
        <AuditFields names={offered.audit_fields} chosen={fields} choose={setFields} />
      )}
      {save.error !== null && <Failed error={save.error} />}
      <DialogTools does="Save" isPending={save.isPending} close={close} />
    </form>
  );
}

/** The verification token in each notification of a subscription: requested only once it is to be shown. */
function TokenDialog({ subscription: { guid, action }, close }: SubscriptionDialogProps) {
  const subscription = useAnswer(
    ['verification-token', guid],
    ({ client }) => client.GET('/v1/subscriptions/{guid}', { params: { path: { guid } } }),
    // The token is cached no longer than it is shown.
    { gcTime: 0 },
  );
  return (
    <Dialog title={`Verification token of ${action}`} close={close}>
      <Found of={subscription} what="the token">
        {({ verification_token: token }) =>
          token === undefined ? (
            <p>Only the client itself is shown its tokens.</p>
          ) : (
            <>
              <p>
                Sent with every notification as <code>X-Service-Verification-Token</code>: compare it, or verify the
                signature.
              </p>
              <p className="line">
                <code>{token}</code> <CopyButton text={token} label="verification token" />
              </p>
            </>
          )
        }
      </Found>
    </Dialog>
  );
}

function EndDialog({ subscription: { action }, close }: SubscriptionDialogProps) {
  const session = useSignedIn();
  const notify = useNotify();
  const end = useSubscriptionChange(
    () => unsubscribe(session, action),
    () => {
      notify(`Unsubscribed from ${action}.`);
      close();
    },
  );
  return (
    <Dialog title={`Unsubscribe from ${action}?`} close={close}>
      <p>
        Ends the subscription. Deliveries that are waiting or retrying are dropped. To keep them waiting, pause it
        instead.
      </p>
      {end.error !== null && <Failed error={end.error} />}
      <DialogTools
        does="Unsubscribe"
        isDangerous
        isPending={end.isPending}
        close={close}
        onClick={() => end.mutate()}
      />
    </Dialog>
  );
}
