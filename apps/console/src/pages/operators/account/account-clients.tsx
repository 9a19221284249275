import { useTold } from '../../../api/use-told.ts';
import { DataTable, type TableColumn } from '../../../parts/data-table.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Empty, Found } from '../../../parts/states.tsx';
import { ClientLink } from '../links.tsx';
import type { AccountClient } from '../types.ts';

/** The clients of an account, each with the ways to its own pages, where the operator acts for it. */
export function AccountClients({ account }: { account: string }) {
  const clients = useTold(['clients', account], ({ operator }) =>
    operator.GET('/v1/admin/accounts/{guid}/clients', { params: { path: { guid: account } } }),
  );
  return (
    <section className="part" aria-labelledby="account-clients">
      <h2 id="account-clients">Clients</h2>
      <Found of={clients} what="the clients">
        {({ objects }) =>
          objects.length === 0 ? (
            <Empty>No clients yet: a client begins with an access token.</Empty>
          ) : (
            <DataTable
              label="Clients"
              rows={objects.map((client) => ({ ...client, account }))}
              columns={columns}
              keyOf={({ client_id }) => client_id}
            />
          )
        }
      </Found>
    </section>
  );
}

type ClientRow = AccountClient & { account: string };

const PAGES = [
  { name: 'Deliveries', page: '/deliveries' },
  { name: 'Missed', page: '/missed' },
  { name: 'Subscriptions', page: '/subscriptions' },
] as const;

const columns: readonly TableColumn<ClientRow>[] = [
  {
    header: 'Client',
    value: ({ client_id }) => client_id,
    cell: ({ account, client_id }) => <ClientLink account={account} client={client_id} />,
  },
  {
    header: 'Open as the client',
    cell: ({ account, client_id }) => (
      <span className="line">
        {PAGES.map(({ name, page }) => (
          <ClientLink key={page} account={account} client={client_id} page={page}>
            {name}
          </ClientLink>
        ))}
      </span>
    ),
  },
  {
    header: 'Subscriptions',
    isNumber: true,
    value: ({ subscriptions }) => subscriptions,
    cell: ({ account, client_id, subscriptions }) => (
      <ClientLink account={account} client={client_id} page="/subscriptions">
        {subscriptions.toLocaleString()}
      </ClientLink>
    ),
  },
  {
    header: 'Switched off',
    isNumber: true,
    value: ({ switched_off }) => switched_off,
    cell: ({ account, client_id, switched_off }) =>
      switched_off === 0 ? (
        '0'
      ) : (
        <ClientLink account={account} client={client_id} page="/subscriptions">
          <strong className="bad">{switched_off.toLocaleString()}</strong>
        </ClientLink>
      ),
  },
  {
    header: 'Token last used',
    value: ({ token_last_used_at: at }) => at ?? '',
    cell: ({ tokens, token_last_used_at: at }) =>
      at === null ? tokens === 0 ? 'no valid token' : 'never' : <Moment at={at} />,
  },
];
