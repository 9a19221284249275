import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type SyntheticEvent } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FaultsOf, Field, forgetting } from '../../parts/form.tsx';
import { useNotify } from '../../parts/notices.tsx';
import { Empty, Failed, Found } from '../../parts/states.tsx';
import { CopyButton, Foreign } from '../../parts/text-block.tsx';
import { Guid, Moment, Status } from '../../parts/values.tsx';
import { counted, SCOPES } from '../../parts/words.ts';
import { useSignedIn } from '../../session/session.ts';
import type { AccessToken, GoingOn, Scope } from './types.ts';

// The keys are the scopes of the interface.
const ALL_SCOPES = Object.keys(SCOPES) as Scope[];

/** The access tokens of an account, without their secrets. */
export function AccountTokens({ guid }: { guid: string }) {
  const [isCreating, setCreating] = useState(false);
  const tokens = useAnswer(['tokens', guid], ({ operator }) =>
    operator.GET('/v1/admin/accounts/{guid}/tokens', { params: { path: { guid } } }),
  );
  return (
    <section className="part" aria-labelledby="account-tokens">
      <div className="line">
        <h2 id="account-tokens">Access tokens</h2>
        <button type="button" onClick={() => setCreating(true)}>
          Create token
        </button>
      </div>
      {isCreating && <CreateTokenDialog account={guid} close={() => setCreating(false)} />}
      <Found of={tokens} what="the access tokens">
        {({ objects }) =>
          objects.length === 0 ? (
            <Empty>No access tokens yet</Empty>
          ) : (
            <DataTable label="Access tokens" rows={objects} columns={columns} keyOf={(token) => token.guid} />
          )
        }
      </Found>
    </section>
  );
}

const columns: readonly TableColumn<AccessToken>[] = [
  {
    header: 'Token',
    cell: ({ guid, console_link: link }) => (
      <>
        <Guid guid={guid} /> {link !== null && <span className="tag">link {link}</span>}
      </>
    ),
  },
  { header: 'State', value: standingOf, cell: (token) => <Status of={standingOf(token)} /> },
  { header: 'Client', value: ({ client_id }) => client_id, cell: ({ client_id }) => <Foreign text={client_id} /> },
  { header: 'Scopes', value: ({ scopes }) => scopes.join(' '), cell: ({ scopes }) => scopes.join(', ') },
  { header: 'Created', value: ({ created_at }) => created_at, cell: ({ created_at }) => <Moment at={created_at} /> },
  {
    header: 'Last used',
    value: ({ last_used_at }) => last_used_at ?? '',
    cell: ({ last_used_at }) => (last_used_at === null ? 'never' : <Moment at={last_used_at} />),
  },
  {
    header: 'Expires',
    value: ({ expires_at, revoked_at }) => revoked_at ?? expires_at ?? '9',
    cell: ({ expires_at, revoked_at }) => {
      const at = revoked_at ?? expires_at;
      return at === null ? 'never' : <Moment at={at} />;
    },
  },
  { header: 'Revoke', cell: (token) => (standingOf(token) === 'active' ? <RevokeToken token={token} /> : '') },
];

function standingOf({ revoked_at, expires_at }: AccessToken): 'active' | 'revoked' | 'expired' {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && Date.parse(expires_at) <= Date.now() ? 'expired' : 'active';
}

/** Creates an access token and shows it, this once. */
function CreateTokenDialog({ account, close }: { account: string; close: () => void }) {
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
      {ALL_SCOPES.map((scope) => (
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
  const { api } = useSignedIn();
  const queries = useQueryClient();
  return useMutation({
    mutationFn: (body: { scopes: Scope[]; client_id?: string; expires_in?: string }) =>
      answerOf(api.operator.POST('/v1/admin/accounts/{guid}/tokens', { params: { path: { guid } }, body })),
    onSuccess: () => void queries.invalidateQueries({ queryKey: ['tokens', guid] }),
    // Once the dialog is closed, the page no longer has the token.
    gcTime: 0,
  });
}

/** Revokes an access token, once that is confirmed. */
function RevokeToken({ token }: { token: AccessToken }) {
  const [isConfirming, setConfirming] = useState(false);
  const close = () => setConfirming(false);
  return (
    <>
      <button
        type="button"
        className="danger"
        aria-label={`Revoke ${token.guid.slice(0, 8)}`}
        onClick={() => setConfirming(true)}
      >
        Revoke
      </button>
      {isConfirming && <RevokeDialog token={token} close={close} />}
    </>
  );
}

function RevokeDialog({ token: { guid, client_id, last_used_at }, close }: { token: AccessToken; close: () => void }) {
  const { api } = useSignedIn();
  const queries = useQueryClient();
  const notify = useNotify();
  const revoke = useMutation({
    mutationFn: () => answerOf(api.operator.DELETE('/v1/admin/tokens/{guid}', { params: { path: { guid } } })),
    onSuccess: async (goingOn: GoingOn | undefined) => {
      const count = goingOn?.subscriptions_of_account || goingOn?.subscriptions || 0;
      const whose = goingOn?.subscriptions_of_account ? 'of the account: close it to end them' : 'of this client';
      notify(
        count === 0 ? 'Token revoked.' : `Token revoked. ${counted(count, 'subscription')} ${whose} go on without one.`,
      );
      close();
      await queries.invalidateQueries({ queryKey: ['tokens'] });
    },
  });
  return (
    <Dialog title="Revoke access token?" close={close}>
      <div className="part">
        <p>
          Token <code>{guid}</code> of client <Foreign text={client_id} /> stops working at once.
        </p>
        <p>Last used: {last_used_at === null ? 'never' : <Moment at={last_used_at} />}</p>
        {revoke.error !== null && <Failed error={revoke.error} />}
        <div className="tools">
          <button type="button" className="danger" disabled={revoke.isPending} onClick={() => revoke.mutate()}>
            {revoke.isPending ? 'Revoking …' : 'Revoke'}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </div>
    </Dialog>
  );
}
