import { useInfiniteQuery, useMutation, useQueryClient } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState, type SyntheticEvent } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Dialog } from '../../parts/dialog.tsx';
import { FaultsOf, Field, forgetting } from '../../parts/form.tsx';
import { useNotify } from '../../parts/notices.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { counted } from '../../parts/words.ts';
import { useSignedIn } from '../../session/session.ts';
import { FeatureChoice } from './account-facts.tsx';
import { AccountLink } from './links.tsx';
import type { Account, Feature } from './types.ts';

const GUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** All accounts, with a search among them. */
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
  const { api } = useSignedIn();
  return useInfiniteQuery({
    queryKey: ['accounts'],
    queryFn: ({ pageParam: after }) =>
      answerOf(api.operator.GET('/v1/admin/accounts', { params: { query: after === '' ? {} : { after } } })),
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

/** Creates an account, and shows its page. */
function CreateAccountDialog({ close }: { close: () => void }) {
  const [through, setThrough] = useState<Account['interface']>('shipper');
  const [name, setName] = useState('');
  const [guid, setGuid] = useState('');
  const [features, setFeatures] = useState<readonly Feature[]>([]);
  const create = useCreate();
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    create.mutate({
      interface: through,
      ...(name.trim() !== '' && { name: name.trim() }),
      ...(guid.trim() !== '' && { guid: guid.trim().toLowerCase() }),
      features: [...features],
    });
  };
  return (
    <Dialog title="Create account" close={close}>
      <form onSubmit={submit} {...forgetting(create)}>
        <fieldset>
          <legend>Interface</legend>
          {(['shipper', 'carrier'] as const).map((each) => (
            <label key={each} className="choice">
              <input type="radio" name="interface" checked={through === each} onChange={() => setThrough(each)} />
              {each}
              {each === 'shipper' && <span className="small">also for brokers</span>}
            </label>
          ))}
        </fieldset>
        <FaultsOf error={create.error}>
          <Field
            at="#/name"
            label="Name"
            value={name}
            maxLength={200}
            onChange={(event) => setName(event.target.value)}
          />
          <Field
            at="#/guid"
            label="Guid"
            value={guid}
            placeholder="Generated if empty"
            onChange={(event) => setGuid(event.target.value)}
          />
        </FaultsOf>
        <FeatureChoice chosen={features} choose={setFeatures} />
        <div className="tools">
          <button type="submit" className="main" disabled={create.isPending}>
            {create.isPending ? 'Creating …' : 'Create'}
          </button>
          <button type="button" onClick={close}>
            Cancel
          </button>
        </div>
      </form>
    </Dialog>
  );
}

type AccountForm = { interface: Account['interface']; name?: string; guid?: string; features: Feature[] };

function useCreate() {
  const { api } = useSignedIn();
  const queries = useQueryClient();
  const navigate = useNavigate();
  const notify = useNotify();
  return useMutation({
    mutationFn: (body: AccountForm) => answerOf(api.operator.POST('/v1/admin/accounts', { body })),
    onSuccess: async ({ guid }) => {
      notify('Account created.');
      void queries.invalidateQueries({ queryKey: ['accounts'] });
      await navigate({ to: '/accounts/$guid', params: { guid } });
    },
  });
}
