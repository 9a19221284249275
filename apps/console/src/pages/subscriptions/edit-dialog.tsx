import { useState, type SyntheticEvent } from 'react';
import { told } from '../../api/ask.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogTools } from '../../parts/dialog-tools.tsx';
import { forgetting } from '../../parts/faults.tsx';
import { useTell } from '../../parts/notices.tsx';
import { Failed, Found } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';
import { AuditFields } from './audit-fields.tsx';
import { CallbackUrlField } from './callback-url-field.tsx';
import { useOffered, useSubscriptionChange, type OfferedAction, type Subscription } from './subscribing.ts';

type EditProps = { subscription: Subscription; close: () => void };

/** Changes a subscription in place: its verification token and its history stay. */
export function EditDialog({ subscription, close }: EditProps) {
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

function EditForm({ subscription, offered, close }: EditProps & { offered: OfferedAction | undefined }) {
  const { guid, action, is_active: isActive } = subscription;
  const { ask } = useSignedIn();
  const tell = useTell();
  const [callbackUrl, setCallbackUrl] = useState(subscription.callback_url);
  const [fields, setFields] = useState(subscription.audit_field_set);
  const save = useSubscriptionChange(
    () =>
      told(
        ask.client.PATCH('/v1/subscriptions/{guid}', {
          params: { path: { guid } },
          body: {
            callback_url: callbackUrl,
            ...(offered?.audit_fields !== undefined && { audit_field_set: fields ?? null }),
          },
        }),
      ),
    () => {
      tell(`${action} saved.`);
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
