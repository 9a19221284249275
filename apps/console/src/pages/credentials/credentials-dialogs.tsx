import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useRef, useState, type SyntheticEvent } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { Dialog, DialogTools } from '../../parts/dialog.tsx';
import { FaultsOf, Field } from '../../parts/form.tsx';
import { useNotify } from '../../parts/notices.tsx';
import { Failed } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { useSignedIn } from '../../session/session.ts';
import { KindSections, credentialsIn } from './credentials-fields.tsx';
import { callsOf, hostOf, KIND_NAMES, kindsOf, type Credentials, type CredentialsKind } from './credentials.ts';

type PutProps = {
  /** Empty where it is to be chosen. */
  host: string;
  /** The current credentials of all hosts. */
  current: readonly Credentials[];
  close: () => void;
};

/**
 * Stores credentials for a host, in place of the current ones. What is typed is in the fields alone, never in the state of the
 * page, and is gone when they are.
 */
export function PutDialog({ host: given, current, close }: PutProps) {
  const before = current.find(({ host }) => host === given);
  const [typed, setTyped] = useState(given);
  const [kinds, setKinds] = useState<readonly CredentialsKind[]>(before === undefined ? [] : kindsOf(before));
  const form = useRef<HTMLFormElement>(null);
  const { api } = useSignedIn();
  const host = hostOf(typed);
  const put = useCredentialsChange(
    () =>
      answerOf(
        api.client.PUT('/v1/credentials/{host}', { params: { path: { host } }, body: credentialsIn(form.current) }),
      ),
    (saved) => `Credentials for ${host} saved${tokenText(saved.token)}`,
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

function tokenText(token: Credentials['token']): string {
  if (token?.status === 'issued') return ', and the token URL gave a token.';
  return token?.status === 'failed' ? `, but there is no token. ${token.detail ?? ''}` : '.';
}

type HostProps = {
  typed: string;
  type: (host: string) => void;
  /** The current credentials for this host. */
  replaced: Credentials | undefined;
};

/** The field of the host, which suggests those that subscriptions call, and says what happens to its current credentials. */
function HostField({ typed, type, replaced }: HostProps) {
  const subscriptions = useAnswer(['subscriptions'], ({ client }) => client.GET('/v1/subscriptions'));
  const urls = subscriptions.data?.objects.map(({ callback_url: url }) => url) ?? [];
  return (
    <>
      <Field
        at="host"
        label="Host (with the port, unless 443)"
        list="called-hosts"
        required
        maxLength={300}
        placeholder="receiver.example.com"
        value={typed}
        onChange={(event) => type(event.target.value)}
      />
      <datalist id="called-hosts">
        {[...new Set(urls.map(hostOf))].map((host) => (
          <option key={host} value={host} />
        ))}
      </datalist>
      {replaced !== undefined && (
        <p className="small" role="status">
          Replaces the credentials for <Foreign text={replaced.host} /> (
          {kindsOf(replaced)
            .map((kind) => KIND_NAMES[kind])
            .join(', ')}
          ) as a whole: enter everything again.
        </p>
      )}
    </>
  );
}

/** Removes the credentials for a host, once that is confirmed. */
export function RemoveDialog({ credentials, close }: { credentials: Credentials; close: () => void }) {
  const { host } = credentials;
  const { api } = useSignedIn();
  const remove = useCredentialsChange(
    () => answerOf(api.client.DELETE('/v1/credentials/{host}', { params: { path: { host } } })),
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

/** Stores or removes credentials, notifies the user, and reloads the list. What was sent is not cached. */
function useCredentialsChange<T>(change: () => Promise<T>, notice: (answer: T) => string, close: () => void) {
  const queries = useQueryClient();
  const notify = useNotify();
  return useMutation({
    mutationFn: change,
    gcTime: 0,
    onSuccess: (answer) => {
      notify(notice(answer));
      close();
    },
    onSettled: () => queries.invalidateQueries({ queryKey: ['credentials'] }),
  });
}
