import { told } from '../../api/ask.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogTools } from '../../parts/dialog-tools.tsx';
import { Failed } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { useSignedIn } from '../../session/session.ts';
import { callsOf, type Credentials } from './types.ts';
import { useCredentialsChange } from './use-credentials-change.ts';

/** Asks whether callbacks to a host are to go without credentials. */
export function RemoveDialog({ credentials, close }: { credentials: Credentials; close: () => void }) {
  const { host } = credentials;
  const { ask } = useSignedIn();
  const remove = useCredentialsChange(
    () => told(ask.client.DELETE('/v1/credentials/{host}', { params: { path: { host } } })),
    () => `Credentials for ${host} removed.`,
    close,
  );
  return (
    <Dialog title="Remove credentials?" close={close}>
      <p>
        Callbacks to <Foreign text={host} /> ({callsOf(credentials)}) are sent without credentials from now on, retries
        included. If the receiver refuses them, the subscription may be switched off. This cannot be undone: credentials
        cannot be read back.
      </p>
      {remove.error !== null && <Failed error={remove.error} />}
      <DialogTools
        does="Remove"
        isDangerous
        isPending={remove.isPending}
        close={close}
        onClick={() => remove.mutate()}
      />
    </Dialog>
  );
}
