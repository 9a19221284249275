import { useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';
import { told } from '../../api/ask.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';
import { counted } from '../../parts/counted.ts';
import { CreateAccountDialog } from './create-account-dialog.tsx';
import { AccountLink } from './links.tsx';
import type { Account } from './types.ts';

/** All accounts that Waybell knows, to be searched among. */
export function AccountsPage() {
  const [isCreating, setCreating] = useState(false);
  const accounts = useAccounts();
  return (
    <Page
      title="Accounts"
      tools={
        <button type="button" className="main" onClick={() => setCreating(true)}>
          Create …
        </button>
      }
    >
      {isCreating && <CreateAccountDialog close={() => setCreating(false)} />}
      <Found of={accounts} what="the accounts">
        {({ pages }) => (
          <List
            pages={pages}
            isLoading={accounts.isFetchingNextPage}
            more={accounts.hasNextPage ? () => void accounts.fetchNextPage() : undefined}
          />
        )}
      </Found>
    </Page>
  );
}

function useAccounts() {
  const { ask } = useSignedIn();
  return useInfiniteQuery({
    queryKey: ['accounts'],
    queryFn: ({ pageParam: after }) =>
      told(ask.operator.GET('/v1/admin/accounts', { params: { query: after === '' ? {} : { after } } })),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
}

type ListProps = {
  pages: readonly { objects: readonly Account[] }[];
  isLoading: boolean;
  more: (() => void) | undefined;
};

function List({ pages, isLoading, more }: ListProps) {
  const [text, setText] = useState('');
  const all = useMemo(() => pages.flatMap(({ objects }) => objects), [pages]);
  const found = useMemo(() => all.filter(isLike(text)), [all, text]);
  return (
    <section className="part" aria-label="Accounts">
      <div className="filters">
        <label>
          Search
          <br />
          <input
            type="search"
            value={text}
            placeholder="Name or guid"
            onChange={(event) => setText(event.target.value)}
          />
        </label>
        <span role="status">
          {text.trim() === ''
            ? counted(all.length, 'account')
            : `${found.length.toLocaleString()} of ${counted(all.length, 'account')}`}
          {more !== undefined && ' so far'}
        </span>
        {more !== undefined && (
          <button type="button" disabled={isLoading} onClick={more}>
            {isLoading ? 'Loading …' : 'Load more'}
          </button>
        )}
      </div>
      {found.length === 0 ? (
        <Nothing text={text.trim()} />
      ) : (
        <DataTable label="Accounts" rows={found} columns={columns} keyOf={({ guid }) => guid} />
      )}
    </section>
  );
}

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

function Nothing({ text }: { text: string }) {
  if (text === '') return <Empty>No accounts yet.</Empty>;
  return (
    <Empty>
      No account matches.{' '}
      {GUID.test(text) && (
        <Link to="/accounts/$guid" params={{ guid: text.toLowerCase() }}>
          Open the account with that guid
        </Link>
      )}
    </Empty>
  );
}

function isLike(text: string) {
  const wanted = text.trim().toLowerCase();
  return ({ guid, name }: Account) => guid.includes(wanted) || (name ?? '').toLowerCase().includes(wanted);
}

const columns: readonly TableColumn<Account>[] = [
  { header: 'Account', value: ({ name }) => name ?? '', cell: (account) => <AccountLink account={account} /> },
  {
    header: 'Interface',
    value: (account) => account.interface,
    cell: (account) => <span className="tag">{account.interface}</span>,
  },
  { header: 'Features', value: ({ features }) => features.join(' '), cell: ({ features }) => features.join(', ') },
  { header: 'Guid', value: ({ guid }) => guid, cell: ({ guid }) => <code>{guid}</code> },
];
