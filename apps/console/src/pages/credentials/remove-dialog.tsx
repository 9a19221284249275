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
    `The credentials for ${host} are gone.`,
    close,
  );
  return (
    <Dialog title="Remove credentials?" close={close}>
      <p>
        Callbacks to <Foreign text={host} /> ({callsOf(credentials)}) are sent without them from now on, and so are
        those that wait for another attempt. A receiver that asks for credentials refuses them, and a subscription that
        only fails is switched off. Nobody can read the credentials back: to have them again, put them in again.
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
