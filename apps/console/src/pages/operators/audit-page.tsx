import { getRouteApi } from '@tanstack/react-router';
import { useState, type SyntheticEvent } from 'react';
import { useTold } from '../../api/use-told.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { AccountLink, WhyLink } from './links.tsx';
import type { Change } from './types.ts';

const route = getRouteApi('/audit');
const MOST = 200;

type AuditFilter = { account?: string; subscription?: string; since?: string };

/** Lists changes of accounts, tokens, secrets and subscriptions, and who made them, newest first. */
export function AuditPage() {
  const filter = route.useSearch();
  const changes = useTold(['audit', filter], ({ operator }) =>
    operator.GET('/v1/admin/audit', { params: { query: { ...filter, limit: MOST } } }),
  );
  return (
    <Page
      title="Audit"
      tools={
        <button type="button" disabled={changes.isFetching} onClick={() => void changes.refetch()}>
          Look again
        </button>
      }
    >
      <Filters key={JSON.stringify(filter)} filter={filter} />
      <Found of={changes} what="the changes">
        {({ objects }) =>
          objects.length === 0 ? (
            <Empty>Nothing was changed.</Empty>
          ) : (
            <>
              <DataTable label="Changes, the last one first" rows={objects} columns={columns} keyOf={changeOf} />
              {objects.length === MOST && (
                <p className="small">These are the last {MOST}: there may be more before them.</p>
              )}
            </>
          )
        }
      </Found>
    </Page>
  );
}

function Filters({ filter }: { filter: AuditFilter }) {
  const navigate = route.useNavigate();
  const [account, setAccount] = useState(filter.account ?? '');
  const [subscription, setSubscription] = useState(filter.subscription ?? '');
  const [since, setSince] = useState(filter.since === undefined ? '' : asLocal(filter.since));
  const look = (event: SyntheticEvent) => {
    event.preventDefault();
    const wanted = {
      account: account.trim(),
      subscription: subscription.trim(),
      since: since === '' ? '' : new Date(since).toISOString(),
    };
    void navigate({ search: Object.fromEntries(Object.entries(wanted).filter(([, text]) => text !== '')) });
  };
  return (
    <form className="filters" onSubmit={look}>
      <label>
        Account
        <br />
        <input value={account} placeholder="its guid" onChange={(event) => setAccount(event.target.value)} />
      </label>
      <label>
        Subscription
        <br />
        <input value={subscription} placeholder="its guid" onChange={(event) => setSubscription(event.target.value)} />
      </label>
      <label>
        Since
        <br />
        <input type="datetime-local" value={since} onChange={(event) => setSince(event.target.value)} />
      </label>
      <button type="submit">Filter</button>
      {Object.keys(filter).length > 0 && (
        <button type="button" className="quiet" onClick={() => void navigate({ search: {} })}>
          Show all
        </button>
      )}
    </form>
  );
}

/** As the field for it wants a time: in the viewer's zone, without naming that. */
function asLocal(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

const changeOf = ({ at, what, subject_guid, request_id }: Change) => `${at} ${what} ${subject_guid} ${request_id}`;

const columns: readonly TableColumn<Change>[] = [
  { header: 'What', value: ({ what }) => what, cell: ({ what }) => <code>{what}</code> },
  { header: 'When', value: ({ at }) => at, cell: ({ at }) => <Moment at={at} /> },
  { header: 'Who', value: ({ who }) => who, cell: ({ who }) => <Foreign text={who} /> },
  {
    header: 'From',
    value: ({ origin }) => origin ?? '',
    cell: ({ origin }) => (origin === null ? 'not known' : <Foreign text={origin} />),
  },
  {
    header: 'Account',
    value: ({ account }) => account?.name ?? account?.guid ?? '',
    cell: ({ account }) => (account === null ? '–' : <AccountLink account={account} />),
  },
  {
    header: 'Of',
    cell: ({ what, subject_guid }) => {
      if (subject_guid === null) return '–';
      return what.startsWith('subscription') ? (
        <WhyLink guid={subject_guid} />
      ) : (
        <code>{subject_guid.slice(0, 8)}</code>
      );
    },
  },
  {
    header: 'New values',
    cell: ({ details }) => (
      <code>
        <Foreign text={JSON.stringify(details)} />
      </code>
    ),
  },
];
