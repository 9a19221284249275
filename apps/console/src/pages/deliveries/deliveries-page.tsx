import { getRouteApi, Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { writtenDuration } from '../../parts/time.ts';
import { Moment, Status } from '../../parts/values.tsx';
import { useSignedIn } from '../../session/session.ts';
import { standingOf } from '../find/delivery.ts';
import { AccountLink } from '../operators/links.tsx';
import { ActionOf, KeyNames } from './delivery-cells.tsx';
import { DeliveryFilters, FilterChips } from './delivery-filters.tsx';
import { searchedBackTo, useDeliveries, type ListFilter, type ShownDelivery } from './listed-deliveries.ts';

const route = getRouteApi('/deliveries');

/** The deliveries of a client, or of all accounts, filtered by the address of the page, which can be sent to a colleague. */
export function DeliveriesPage() {
  const { view } = useSignedIn();
  const filter = route.useSearch();
  const navigate = route.useNavigate();
  const deliveries = useDeliveries(filter);
  const isFiltered = Object.keys(filter).length > 0;
  const narrow = (changes: ListFilter) => void navigate({ search: withoutEmpty({ ...filter, ...changes }) });
  return (
    <Page
      title="Deliveries"
      tools={
        <div className="tools">
          {isFiltered && (
            <button type="button" className="quiet" onClick={() => void navigate({ search: {} })}>
              Clear filters
            </button>
          )}
          <button type="button" disabled={deliveries.isFetching} onClick={() => void deliveries.refetch()}>
            Refresh
          </button>
        </div>
      }
    >
      <DeliveryFilters filter={filter} narrow={narrow} />
      <FilterChips
        filter={filter}
        narrow={narrow}
        only={view === 'operator' ? ['reason', 'guid', 'subscription'] : ['reason', 'guid']}
      />
      <Found of={deliveries} what="deliveries">
        {({ pages }) => (
          <Rows
            rows={pages.flatMap(({ objects }) => objects)}
            next={pages.at(-1)?.next}
            more={() => void deliveries.fetchNextPage()}
            isPending={deliveries.isFetchingNextPage}
            nothing={isFiltered ? <NoMatch filter={filter} narrow={narrow} /> : <None />}
          />
        )}
      </Found>
    </Page>
  );
}

/** Leaves empty filters out of the address. */
const withoutEmpty = (filter: ListFilter): ListFilter =>
  Object.fromEntries(Object.entries(filter).filter(([, text]) => text !== undefined && text !== ''));

type RowsProps = {
  rows: readonly ShownDelivery[];
  next: string | null | undefined;
  more: () => void;
  isPending: boolean;
  /** Shown if there are no rows. */
  nothing: ReactNode;
};

function Rows({ rows, next, more, isPending, nothing }: RowsProps) {
  const { view } = useSignedIn();
  const hasMore = next !== null && next !== undefined;
  const columns = view === 'operator' ? operatorColumns : clientColumns;
  return (
    <div className="part" aria-live="polite">
      {rows.length > 0 && (
        <DataTable label="Deliveries, newest first" rows={rows} columns={columns} keyOf={({ guid }) => guid} />
      )}
      {rows.length === 0 && !hasMore && nothing}
      {hasMore && (
        <div className="line">
          <SearchedBack isEmpty={rows.length === 0} next={next} />
          <button type="button" disabled={isPending} onClick={more}>
            {rows.length === 0 ? 'Search further back' : 'Show more'}
          </button>
        </div>
      )}
    </div>
  );
}

const sharedColumns: readonly TableColumn<ShownDelivery>[] = [
  { header: 'Action', cell: (delivery) => <ActionOf delivery={delivery} /> },
  { header: 'Key', cell: ({ keys }) => <KeyNames keys={keys} /> },
  { header: 'Status', cell: (delivery) => <Status of={standingOf(delivery)} /> },
  { header: 'HTTP', isNumber: true, cell: (delivery) => <Answer delivery={delivery} /> },
  { header: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts.length },
  {
    header: 'Duration',
    isNumber: true,
    cell: (delivery) => {
      const ms = lastAttempt(delivery)?.duration_ms;
      return ms === undefined ? '–' : <span className="quietly">{writtenDuration(ms)}</span>;
    },
  },
];

const clientColumns: readonly TableColumn<ShownDelivery>[] = [
  {
    header: 'Time',
    cell: ({ guid, at }) => (
      <Link to="/deliveries/$guid" params={{ guid }} className="row-link quietly">
        <Moment at={at} />
      </Link>
    ),
  },
  ...sharedColumns,
];

const operatorColumns: readonly TableColumn<ShownDelivery>[] = [
  {
    header: 'Time',
    cell: ({ guid, at }) => (
      <Link to="/why" search={{ text: guid, as: 'delivery' }} className="row-link quietly">
        <Moment at={at} />
      </Link>
    ),
  },
  { header: 'Account', cell: ({ account }) => (account === undefined ? '–' : <AccountLink account={account} />) },
  { header: 'Client', cell: ({ client_id: client }) => <Foreign text={client ?? '–'} /> },
  ...sharedColumns,
];

/** The status of the receiver's last answer or, without one, the reason. */
function Answer({ delivery }: { delivery: ShownDelivery }) {
  const attempt = lastAttempt(delivery);
  const reason = delivery.reason ?? attempt?.reason;
  if (attempt?.http_status !== undefined) return <code title={reason}>{attempt.http_status}</code>;
  return reason === undefined ? '–' : <code>{reason}</code>;
}

const lastAttempt = ({ attempts }: ShownDelivery) => attempts.at(-1);

/** Shows how far back a page was searched: one request goes over a limited number of deliveries. */
function SearchedBack({ isEmpty, next }: { isEmpty: boolean; next: string }) {
  const to = searchedBackTo(next);
  if (to === undefined) return null;
  return (
    <span className="small">
      {isEmpty && 'None found so far. '}Searched back to <Moment at={to} />
    </span>
  );
}

/** Shows the filters, each of which can be removed. */
function NoMatch({ filter, narrow }: { filter: ListFilter; narrow: (changes: ListFilter) => void }) {
  return (
    <Empty>
      <p>No delivery matches all of these filters. Remove one:</p>
      <FilterChips filter={filter} narrow={narrow} />
    </Empty>
  );
}

function None() {
  const { view } = useSignedIn();
  return (
    <Empty>
      <p>No deliveries yet.</p>
      {view === 'client' && (
        <p>
          <Link to="/subscriptions">Subscribe</Link> to an action, then send a test.
        </p>
      )}
    </Empty>
  );
}
