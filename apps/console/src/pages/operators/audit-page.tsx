import { getRouteApi } from '@tanstack/react-router';
import { useState, type SyntheticEvent } from 'react';
import { useAnswer } from '../../api/use-answer.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { Foreign, indented } from '../../parts/text-block.tsx';
import { localOf, writtenHere } from '../../parts/time.ts';
import { Guid, Moment } from '../../parts/values.tsx';
import { inWords } from './audit-words.ts';
import { AccountLink, ClientLink, WhyLink } from './links.tsx';
import type { Change } from './types.ts';

const route = getRouteApi('/audit');

const MOST = 200;

type AuditFilter = { account?: string; subscription?: string; since?: string };

/** The service that switches subscriptions off by rules, as its role or user in Postgres. */
const DEACTIVATOR = /^(role|user) waybell[_-]deactivator$/;

/** Lists changes of accounts, tokens, secrets, subscriptions and stops, and who made them, newest first. */
export function AuditPage() {
  const filter = route.useSearch();
  const changes = useAnswer(['audit', filter], ({ operator }) =>
    operator.GET('/v1/admin/audit', { params: { query: { ...filter, limit: MOST } } }),
  );
  return (
    <Page
      title="Audit log"
      tools={
        <button type="button" disabled={changes.isFetching} onClick={() => void changes.refetch()}>
          Refresh
        </button>
      }
    >
      <AuditFilters key={JSON.stringify(filter)} filter={filter} />
      <Found of={changes} what="the changes">
        {({ objects }) =>
          objects.length === 0 ? (
            <Empty>No changes.</Empty>
          ) : (
            <>
              <DataTable label="Changes, newest first" rows={objects} columns={columns} keyOf={changeOf} />
              {objects.length === MOST && <p className="small">The last {MOST} changes: there may be older ones.</p>}
            </>
          )
        }
      </Found>
    </Page>
  );
}

/** Filters of the changes, kept in the address. */
function AuditFilters({ filter }: { filter: AuditFilter }) {
  const navigate = route.useNavigate();
  const [account, setAccount] = useState(filter.account ?? '');
  const [subscription, setSubscription] = useState(filter.subscription ?? '');
  const [since, setSince] = useState(filter.since === undefined ? '' : localOf(filter.since));
  const applyFilters = (event: SyntheticEvent) => {
    event.preventDefault();
    const wanted = {
      account: account.trim(),
      subscription: subscription.trim(),
      since: since === '' ? '' : new Date(since).toISOString(),
    };
    void navigate({ search: Object.fromEntries(Object.entries(wanted).filter(([, text]) => text !== '')) });
  };
  return (
    <form className="filters" onSubmit={applyFilters}>
      <label>
        Account
        <br />
        <input value={account} placeholder="Guid" onChange={(event) => setAccount(event.target.value)} />
      </label>
      <label>
        Subscription
        <br />
        <input value={subscription} placeholder="Guid" onChange={(event) => setSubscription(event.target.value)} />
      </label>
      <label>
        Since
        <br />
        <input type="datetime-local" value={since} onChange={(event) => setSince(event.target.value)} />
      </label>
      <button type="submit">Filter</button>
      {Object.keys(filter).length > 0 && (
        <button type="button" className="quiet" onClick={() => void navigate({ search: {} })}>
          Clear
        </button>
      )}
    </form>
  );
}

const changeOf = ({ at, what, subject_guid, request_id }: Change) => `${at} ${what} ${subject_guid} ${request_id}`;

const columns: readonly TableColumn<Change>[] = [
  {
    header: 'Change',
    value: ({ what }) => what,
    cell: (change) => (
      <>
        <Foreign text={inWords(change, writtenHere)} />
        <Details change={change} />
      </>
    ),
  },
  { header: 'Object', cell: (change) => <Subject change={change} /> },
  {
    header: 'Account',
    value: ({ account }) => account?.name ?? account?.guid ?? '',
    cell: ({ account }) => account !== null && <AccountLink account={account} />,
  },
  { header: 'By', value: ({ by, who }) => by?.client_id ?? who, cell: (change) => <Author change={change} /> },
  { header: 'Time', value: ({ at }) => at, cell: ({ at }) => <Moment at={at} /> },
];

function Details({ change: { what, details, request_id: request, origin, who } }: { change: Change }) {
  return (
    <Disclosure summary={<span className="small">Details</span>}>
      {() => (
        <>
          <p className="small">
            <code>{what}</code> by <Foreign text={who} />
            {origin !== null && (
              <>
                {' '}
                from <Foreign text={origin} />
              </>
            )}
            {request !== null && (
              <>
                , request <code>{request}</code>
              </>
            )}
          </p>
          <pre className="small">
            <Foreign text={indented(JSON.stringify(details))} />
          </pre>
        </>
      )}
    </Disclosure>
  );
}

/** The changed object, with a link. */
function Subject({
  change: { what, subject_guid: guid, account, client_id: client, action, details },
}: {
  change: Change;
}) {
  const [kind = ''] = what.split('.');
  const { host, delivery } = details;
  if (typeof host === 'string') return <Foreign text={host} />;
  if (typeof delivery === 'string') return <WhyLink guid={delivery} />;
  if (guid === null) return '–';
  if (kind === 'subscription') return <WhyLink guid={guid}>{action ?? undefined}</WhyLink>;
  if (kind === 'account' && account !== null) return <AccountLink account={account} />;
  if (client !== null && account !== null) return <ClientLink account={account.guid} client={client} />;
  return <Guid guid={guid} />;
}

/** The author of a change: the client of the token, or the user of a command line; any other as the log names it. */
function Author({ change: { who, by, origin } }: { change: Change }) {
  if (by !== null) {
    return (
      <>
        <ClientLink account={by.account.guid} client={by.client_id} />
        <div className="small">
          <AccountLink account={by.account} />
        </div>
      </>
    );
  }
  if (DEACTIVATOR.test(who)) return 'Waybell, by its rules';
  if (who !== 'command line') return <Foreign text={who} />;
  return <Foreign text={origin === null ? 'command line' : `command line by ${origin}`} />;
}
