import { getRouteApi } from '@tanstack/react-router';
import { useTold } from '../../api/use-told.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Disclosure } from '../../parts/disclosure.tsx';
import { Guid } from '../../parts/guid.tsx';
import { Moment } from '../../parts/moment.tsx';
import { writtenHere } from '../../parts/time.ts';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { Foreign, indented } from '../../parts/text-block.tsx';
import { AuditFilters } from './audit/audit-filters.tsx';
import { Author } from './audit/author.tsx';
import { inWords } from './audit/in-words.ts';
import { AccountLink, ClientLink, WhyLink } from './links.tsx';
import type { Change } from './types.ts';

const route = getRouteApi('/audit');
const MOST = 200;

/** Lists changes of accounts, tokens, secrets, subscriptions and stops, and who made them, newest first. */
export function AuditPage() {
  const filter = route.useSearch();
  const changes = useTold(['audit', filter], ({ operator }) =>
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
