import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { told } from '../../../api/ask.ts';
import { CopyButton } from '../../../parts/copy-button.tsx';
import { Dialog } from '../../../parts/dialog.tsx';
import { FaultsOf, forgetting } from '../../../parts/faults.tsx';
import { Field } from '../../../parts/field.tsx';
import { SCOPES } from '../../../parts/words.ts';
import { useSignedIn } from '../../../session/session.ts';
import type { Scope } from '../types.ts';

// They are the interface's.
const ALL = Object.keys(SCOPES) as Scope[];

/** Makes an access token and shows it, this once. */
export function CreateTokenDialog({ account, close }: { account: string; close: () => void }) {
  const create = useCreate(account);
  return (
    <Dialog title="Create access token" close={close}>
      {create.data === undefined ? (
        <TokenForm create={create} close={close} />
      ) : (
        <div className="part">
          <p>Copy the token now: it is not shown again.</p>
          <div className="shown-once">
            <code>{create.data.token}</code>
            <CopyButton text={create.data.token} label="the token" />
          </div>
          <div className="tools">
            <button type="button" className="main" onClick={close}>
              Done
            </button>
          </div>
        </div>
      )}
    </Dialog>
  );
}

function TokenForm({ create, close }: { create: ReturnType<typeof useCreate>; close: () => void }) {
  const [scopes, setScopes] = useState<readonly Scope[]>(['webhooks:read', 'webhooks:write']);
  const [client, setClient] = useState('');
  const [expiresIn, setExpiresIn] = useState('');
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    create.mutate({
      scopes: [...scopes],
      ...(client.trim() !== '' && { client_id: client.trim() }),
      ...(expiresIn.trim() !== '' && { expires_in: expiresIn.trim() }),
    });
  };
  return (
    <form onSubmit={submit} {...forgetting(create)}>
      <ScopeChoice chosen={scopes} choose={setScopes} />
      <FaultsOf error={create.error}>
        <Field
          at="#/client_id"
          label="Client (each has its own subscriptions)"
          value={client}
          maxLength={200}
          placeholder="default"
          onChange={(event) => setClient(event.target.value)}
        />
        <Field
          at="#/expires_in"
          label="Expires after"
          value={expiresIn}
          list="token-lifetimes"
          placeholder="24h, 90d; never if empty"
          onChange={(event) => setExpiresIn(event.target.value)}
        />
      </FaultsOf>
      <datalist id="token-lifetimes">
        {['24h', '30d', '90d', '365d'].map((each) => (
          <option key={each} value={each} />
        ))}
      </datalist>
      <div className="tools">
        <button type="submit" className="main" disabled={create.isPending || scopes.length === 0}>
          {create.isPending ? 'Creating …' : 'Create'}
        </button>
        <button type="button" onClick={close}>
          Cancel
        </button>
      </div>
    </form>
  );
}

function ScopeChoice({ chosen, choose }: { chosen: readonly Scope[]; choose: (scopes: readonly Scope[]) => void }) {
  return (
    <fieldset>
      <legend>Scopes</legend>
      {ALL.map((scope) => (
        <label key={scope} className="choice">
          <input
            type="checkbox"
            checked={chosen.includes(scope)}
            onChange={({ target }) =>
              choose(target.checked ? [...chosen, scope] : chosen.filter((each) => each !== scope))
            }
          />
          <code>{scope}</code> <span className="small">{SCOPES[scope]}</span>
        </label>
      ))}
    </fieldset>
  );
}

function useCreate(guid: string) {
  const { ask } = useSignedIn();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: { scopes: Scope[]; client_id?: string; expires_in?: string }) =>
      told(ask.operator.POST('/v1/admin/accounts/{guid}/tokens', { params: { path: { guid } }, body })),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['tokens', guid] }),
    // The token is nowhere once its dialog is closed.
    gcTime: 0,
  });
}
