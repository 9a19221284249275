import { useRef, useState, type SyntheticEvent } from 'react';
import { told } from '../../api/ask.ts';
import { Dialog } from '../../parts/dialog.tsx';
import { DialogTools } from '../../parts/dialog-tools.tsx';
import { useSignedIn } from '../../session/session.ts';
import { FaultsOf } from '../../parts/faults.tsx';
import { HostField } from './host-field.tsx';
import { KindSections } from './kind-sections.tsx';
import { hostOf, kindsOf, type Credentials, type CredentialsKind } from './types.ts';
import { useCredentialsChange } from './use-credentials-change.ts';
import { writtenIn } from './written-in.ts';

type PutProps = {
  /** Empty where it is to be chosen. */
  host: string;
  /** The current credentials of all hosts. */
  current: readonly Credentials[];
  close: () => void;
};

/**
 * Puts credentials in for a host, in place of those that are there. What is typed stands in the fields alone, never in the
 * state of the page, and leaves with them.
 */
export function PutDialog({ host: given, current, close }: PutProps) {
  const before = current.find(({ host }) => host === given);
  const [typed, setTyped] = useState(given);
  const [kinds, setKinds] = useState<readonly CredentialsKind[]>(before === undefined ? [] : kindsOf(before));
  const form = useRef<HTMLFormElement>(null);
  const { ask } = useSignedIn();
  const host = hostOf(typed);
  const put = useCredentialsChange(
    () => told(ask.client.PUT('/v1/credentials/{host}', { params: { path: { host } }, body: writtenIn(form.current) })),
    (saved) => `Credentials for ${host} saved${toldOf(saved.token)}`,
    close,
  );
  const choose = (next: readonly CredentialsKind[]) => {
    put.reset();
    setKinds(next);
  };
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    put.mutate();
  };
  return (
    <Dialog title={before === undefined ? 'Add credentials' : 'Replace credentials'} close={close}>
      <form ref={form} onSubmit={submit} autoComplete="off">
        <FaultsOf error={put.error}>
          <HostField typed={typed} type={setTyped} replaced={current.find((each) => each.host === host)} />
          <KindSections kinds={kinds} choose={choose} before={before} />
        </FaultsOf>
        <DialogTools
          does={current.some((each) => each.host === host) ? 'Replace' : 'Add'}
          isPending={put.isPending || kinds.length === 0}
          close={close}
        />
      </form>
    </Dialog>
  );
}

function toldOf(token: Credentials['token']): string {
  if (token?.status === 'issued') return ', and the token URL gave a token.';
  return token?.status === 'failed' ? `, but there is no token. ${token.detail ?? ''}` : '.';
}
