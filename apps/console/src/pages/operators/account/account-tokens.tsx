import { useState } from 'react';
import { useTold } from '../../../api/use-told.ts';
import { DataTable, type TableColumn } from '../../../parts/data-table.tsx';
import { Guid } from '../../../parts/guid.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Empty, Found } from '../../../parts/states.tsx';
import { Status } from '../../../parts/status.tsx';
import { Foreign } from '../../../parts/text-block.tsx';
import type { AccessToken } from '../types.ts';
import { CreateTokenDialog } from './create-token-dialog.tsx';
import { RevokeToken } from './revoke-token.tsx';

/** The access tokens of an account: never the tokens themselves. */
export function AccountTokens({ guid }: { guid: string }) {
  const [isCreating, setCreating] = useState(false);
  const tokens = useTold(['tokens', guid], ({ operator }) =>
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

function standingOf({ revoked_at, expires_at }: AccessToken): 'active' | 'revoked' | 'expired' {
  if (revoked_at !== null) return 'revoked';
  return expires_at !== null && Date.parse(expires_at) <= Date.now() ? 'expired' : 'active';
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
