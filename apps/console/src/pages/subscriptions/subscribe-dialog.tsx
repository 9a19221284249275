import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { useTell } from '../../parts/notices.tsx';
import { Failed, Found } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';
import { AuditFields } from './audit-fields.tsx';
import { subscribing, type OfferedAction, type Subscription } from './subscribing.ts';

type SubscribeProps = { action?: string | undefined; current?: Subscription; close: () => void };

/** Asks for a subscription; of the current one for what is to change. */
export function SubscribeDialog({ action, current, close }: SubscribeProps) {
  const session = useSignedIn();
  const offered = useQuery({ queryKey: ['actions'], queryFn: subscribing(session).offered });
  const before = useQuery({
    queryKey: ['audit-field-set', current?.guid, current?.changed_at],
    enabled: current !== undefined,
    queryFn: async () => ({ fields: await subscribing(session).auditFieldSet(current?.action ?? '') }),
  });
  const title = current === undefined ? 'Subscribe' : `Change the subscription to ${current.action}`;
  return (
    <Dialog title={title} close={close}>
      <Found of={offered} what="the actions">
        {(actions) =>
          current === undefined || before.data !== undefined ? (
            <SubscribeForm
              actions={actions}
              wanted={current?.action ?? action}
              current={current}
              fieldsBefore={before.data?.fields}
              close={close}
            />
          ) : (
            <Found of={before} what="the subscription">
              {() => null}
            </Found>
          )
        }
      </Found>
    </Dialog>
  );
}

type FormProps = {
  actions: readonly OfferedAction[];
  wanted: string | undefined;
  current: Subscription | undefined;
  fieldsBefore: string[] | undefined;
  close: () => void;
};

function SubscribeForm({ actions, wanted, current, fieldsBefore, close }: FormProps) {
  const [action, setAction] = useState(wanted ?? actions[0]?.action ?? '');
  const [callbackUrl, setCallbackUrl] = useState(current?.callback_url ?? '');
  const [fields, setFields] = useState(fieldsBefore);
  const chosen = actions.find((each) => each.action === action);
  const save = useSave(current, close);
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    save.mutate({ action, callbackUrl, auditFieldSet: chosen?.audit_fields === undefined ? undefined : fields });
  };
  return (
    <form onSubmit={submit}>
      {current === undefined && (
        <>
          <label htmlFor="action">Action</label>
          <select id="action" value={action} onChange={(event) => setAction(event.target.value)}>
            {actions.map((each) => (
              <option key={each.action}>{each.action}</option>
            ))}
          </select>
        </>
      )}
      <p className="small">Sent when {chosen?.description}</p>
      <label htmlFor="callback-url">Address of your receiver</label>
      <input
        id="callback-url"
        type="url"
        required
        maxLength={2_048}
        placeholder="https://receiver.example.com/waybell"
        value={callbackUrl}
        onChange={(event) => setCallbackUrl(event.target.value)}
      />
      {chosen?.audit_fields !== undefined && (
        <AuditFields names={chosen.audit_fields} chosen={fields} choose={setFields} />
      )}
      {save.error !== null && <Failed error={save.error} />}
      <div className="tools">
        <button type="submit" className="main" disabled={save.isPending}>
          {current === undefined ? 'Subscribe' : 'Save'}
        </button>
        <button type="button" onClick={close}>
          Leave it
        </button>
      </div>
    </form>
  );
}

function useSave(current: Subscription | undefined, close: () => void) {
  const session = useSignedIn();
  const queries = useQueryClient();
  const tell = useTell();
  return useMutation({
    mutationFn: (wish: Parameters<ReturnType<typeof subscribing>['subscribe']>[0]) =>
      current === undefined
        ? subscribing(session).subscribe(wish)
        : subscribing(session).change(wish, current.callback_url),
    onSuccess: async (_done, { action }) => {
      tell(current === undefined ? `Subscribed to ${action}.` : `The subscription to ${action} is changed.`);
      close();
      await queries.invalidateQueries({ queryKey: ['subscriptions'] });
    },
    onError: () => queries.invalidateQueries({ queryKey: ['subscriptions'] }),
  });
}
