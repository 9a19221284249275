import { useState, type SyntheticEvent } from 'react';
import { told } from '../../api/ask.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogTools } from '../../parts/dialog-tools.tsx';
import { forgetting } from '../../parts/faults.tsx';
import { Failed, Found } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';
import { ActionChoice } from './action-choice.tsx';
import { AuditFields } from './audit-fields.tsx';
import { CallbackUrlField } from './callback-url-field.tsx';
import { SubscribeResults } from './subscribe-results.tsx';
import { useOffered, useSubscriptionChange, type OfferedAction, type Subscription } from './subscribing.ts';

type SubscribeProps = { action?: string | undefined; current: readonly Subscription[]; close: () => void };

/** Subscribes to some actions at one URL, shows the result of each, and sends tests. */
export function SubscribeDialog({ action, current, close }: SubscribeProps) {
  const offered = useOffered();
  // The state when it was opened: changes made here must not be shown as earlier ones.
  const [before] = useState(current);
  return (
    <Dialog title="Subscribe" close={close}>
      <Found of={offered} what="the actions">
        {(actions) => <SubscribeForm actions={actions} wanted={action} current={before} close={close} />}
      </Found>
    </Dialog>
  );
}

type FormProps = Omit<SubscribeProps, 'action'> & { actions: readonly OfferedAction[]; wanted: string | undefined };

function SubscribeForm({ actions, wanted, current, close }: FormProps) {
  const [chosen, setChosen] = useState<readonly string[]>(wanted === undefined ? [] : [wanted]);
  const [callbackUrl, setCallbackUrl] = useState(() => usualUrlOf(current));
  const [fields, setFields] = useState<string[]>();
  const { ask } = useSignedIn();
  const names = auditFieldsOf(actions.filter(({ action }) => chosen.includes(action)));
  const replaced = current.filter(({ action }) => chosen.includes(action));
  const subscribe = useSubscriptionChange(() =>
    told(
      ask.client.PUT('/v1/subscriptions', {
        body: {
          callback_url: callbackUrl,
          actions: [...chosen],
          ...(fields !== undefined && { audit_field_set: fields.filter((each) => names.includes(each)) }),
        },
      }),
    ),
  );
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    subscribe.mutate();
  };
  if (subscribe.data !== undefined) return <SubscribeResults results={subscribe.data.objects} close={close} />;
  return (
    <form onSubmit={submit} {...forgetting(subscribe)}>
      <ActionChoice
        actions={actions}
        chosen={chosen}
        choose={setChosen}
        subscribed={current.map(({ action }) => action)}
      />
      <CallbackUrlField value={callbackUrl} change={setCallbackUrl} />
      {names.length > 0 && <AuditFields names={names} chosen={fields} choose={setFields} />}
      {replaced.length > 0 && (
        <p className="small">
          {replaced.length} of these exist already: they move to this URL and keep their verification tokens.
        </p>
      )}
      {subscribe.error !== null && <Failed error={subscribe.error} />}
      <DialogTools
        does={chosen.length > 1 ? `Subscribe to ${chosen.length}` : 'Subscribe'}
        isPending={subscribe.isPending || chosen.length === 0}
        close={close}
      />
    </form>
  );
}

/** The URL that most of them are sent to, and of several that of the newest; empty where there is none. */
function usualUrlOf(current: readonly Subscription[]): string {
  const byUrl = Object.values(Object.groupBy(current, ({ callback_url: url }) => url)).flatMap((same = []) => {
    const [newest] = same
      .map(({ created_at: at }) => at)
      .toSorted()
      .toReversed();
    return newest === undefined ? [] : [{ url: same[0]?.callback_url ?? '', count: same.length, newest }];
  });
  const [usual] = byUrl.toSorted((a, b) => b.count - a.count || b.newest.localeCompare(a.newest));
  return usual?.url ?? '';
}

/** The fields that some of them can tell old and new values of: each takes those that it has. */
const auditFieldsOf = (actions: readonly OfferedAction[]): string[] => [
  ...new Set(actions.flatMap(({ audit_fields: fields = [] }) => fields)),
];
