import { getRouteApi, Link } from '@tanstack/react-router';
import { useState, type SyntheticEvent } from 'react';
import { useAnswer } from '../../api/use-answer.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { Guid, Moment } from '../../parts/values.tsx';
import { counted } from '../../parts/words.ts';
import { RejectedActions } from './rejected-actions.tsx';
import type { Rejected, RejectedSelection } from './types.ts';

const route = getRouteApi('/rejected');
const MOST = 1_000;

type RejectedPageFilter = { reason?: string | undefined; about?: string | undefined };

/** Rejected events, and what to do about them. Never polled: each request reads the whole queue, where others miss them meanwhile. */
export function RejectedPage() {
  const { reason, about } = route.useSearch();
  const filter = { ...(reason !== undefined && { reason }), ...(about !== undefined && { about }) };
  const rejected = useAnswer(
    ['rejected', filter],
    ({ operator }) => operator.GET('/v1/admin/rejected', { params: { query: { ...filter, limit: MOST } } }),
    { refetchOnWindowFocus: false },
  );
  return (
    <Page
      title="Rejected"
      tools={
        <button type="button" disabled={rejected.isFetching} onClick={() => void rejected.refetch()}>
          Refresh
        </button>
      }
    >
      <Filters key={JSON.stringify(filter)} filter={filter} />
      <Found of={rejected} what="what was rejected">
        {({ objects, is_complete }) => (
          <section className="part" aria-label="Rejected events">
            <div className="line">
              {objects.length > 0 && (
                <strong>
                  {isAll(objects, is_complete) ? '' : 'The first '}
                  {counted(objects.length, 'message')}
                </strong>
              )}
              <RejectedActions selection={objects.length === 0 ? undefined : selectionOf(filter, objects)} />
            </div>
            {objects.length === 0 ? (
              <Empty>{(reason ?? about) ? 'No rejected event matches.' : 'No event is rejected.'}</Empty>
            ) : (
              <DataTable label="Rejected messages, oldest first" rows={objects} columns={columns} keyOf={idOf} />
            )}
          </section>
        )}
      </Found>
    </Page>
  );
}

function Filters({ filter }: { filter: RejectedPageFilter }) {
  const navigate = route.useNavigate();
  const [reason, setReason] = useState(filter.reason ?? '');
  const [about, setAbout] = useState(filter.about ?? '');
  const applyFilters = (event: SyntheticEvent) => {
    event.preventDefault();
    const wanted = { reason: reason.trim(), about: about.trim() };
    void navigate({
      search: {
        ...(wanted.reason !== '' && { reason: wanted.reason }),
        ...(wanted.about !== '' && { about: wanted.about }),
      },
    });
  };
  return (
    <form className="filters" onSubmit={applyFilters}>
      <label>
        Reason
        <br />
        <input
          value={reason}
          maxLength={100}
          placeholder="payload_invalid"
          onChange={(event) => setReason(event.target.value)}
        />
      </label>
      <label>
        Mentions
        <br />
        <input
          value={about}
          maxLength={200}
          placeholder="Guid, order number, VIN"
          onChange={(event) => setAbout(event.target.value)}
        />
      </label>
      <button type="submit">Filter</button>
      {(filter.reason ?? filter.about) !== undefined && (
        <button type="button" className="quiet" onClick={() => void navigate({ search: {} })}>
          Show all
        </button>
      )}
    </form>
  );
}

const isAll = (objects: readonly Rejected[], isComplete: boolean) => isComplete && objects.length < MOST;

/** The selection of what the page shows. With both filters it names each message: the API takes one filter. */
function selectionOf({ reason, about }: RejectedPageFilter, objects: readonly Rejected[]): RejectedSelection {
  if (reason !== undefined && about !== undefined) return { ids: objects.map(idOf) };
  if (reason !== undefined) return { reason };
  return about === undefined ? { all: true } : { about };
}

const idOf = ({ id }: Rejected) => id;

const columns: readonly TableColumn<Rejected>[] = [
  {
    header: 'Message',
    cell: ({ id }) => (
      <Link to="/rejected/$id" params={{ id }}>
        Correct <Guid guid={id} />
      </Link>
    ),
  },
  {
    header: 'Rejected',
    value: ({ rejected_at }) => rejected_at ?? '',
    cell: ({ rejected_at }) => (rejected_at === null ? 'not known' : <Moment at={rejected_at} />),
  },
  {
    header: 'Reason',
    value: ({ reason }) => reason,
    cell: ({ reason }) => (
      <Link to="/rejected" search={{ reason }}>
        <code>{reason}</code>
      </Link>
    ),
  },
  { header: 'Problem', value: ({ detail }) => detail, cell: ({ detail }) => <Foreign text={detail} /> },
  {
    header: 'Routing key',
    value: ({ routing_key }) => routing_key,
    cell: ({ routing_key }) => <Foreign text={routing_key} />,
  },
  { header: 'Bytes', isNumber: true, value: ({ size }) => size, cell: ({ size }) => size.toLocaleString() },
  {
    header: 'Published by',
    value: ({ user_id }) => user_id ?? '',
    cell: ({ user_id }) => user_id !== undefined && <Foreign text={user_id} />,
  },
];
