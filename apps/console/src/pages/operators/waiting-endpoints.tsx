import { Link } from '@tanstack/react-router';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Empty } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { Moment } from '../../parts/values.tsx';
import { WAITING } from '../../parts/words.ts';
import { AccountLink } from './links.tsx';
import { StopHost } from './stop-button.tsx';
import type { WaitingDestination, WaitingEndpoint } from './types.ts';

/** Statuses of deliveries that wait for an endpoint, before the first attempt or a later one. */
export const WAITING_STATUSES = 'waiting,retrying';

/** Endpoints that deliveries wait for, and why; those with the oldest delivery first. */
export function WaitingEndpoints({ endpoints }: { endpoints: readonly WaitingEndpoint[] }) {
  if (endpoints.length === 0) return <Empty>No delivery waits for its endpoint.</Empty>;
  return <DataTable label="Endpoints that deliveries wait for" rows={endpoints} columns={columns} keyOf={endpointOf} />;
}

const endpointOf = ({ account, url, oldest_at }: WaitingEndpoint) => `${account.guid} ${url ?? oldest_at}`;

/** Selects the deliveries of a row. A held subscription has a row of its own: others may have the same URL. */
const whichOf = ({
  subscription_guids: [subscription, other],
  url,
}: Pick<WaitingEndpoint, 'subscription_guids' | 'url'>) =>
  subscription !== undefined && other === undefined ? { subscription } : url === null ? {} : { endpoint: url };

const columns: readonly TableColumn<WaitingEndpoint>[] = [
  {
    header: 'Endpoint',
    value: ({ url }) => url ?? '',
    cell: ({ url }) => (url === null ? 'a URL that no subscription has now' : <Foreign text={url} />),
  },
  {
    header: 'Account',
    value: ({ account }) => account.name ?? account.guid,
    cell: ({ account }) => <AccountLink account={account} />,
  },
  {
    header: 'Why',
    value: ({ why }) => why.join(),
    cell: (room) => (
      <>
        <span className="phrase">{room.why.map((each) => WAITING[each][1]).join(', ')}</span>
        <RoomState room={room} />
      </>
    ),
  },
  {
    header: 'Deliveries',
    isNumber: true,
    value: ({ deliveries }) => deliveries,
    cell: ({ account, deliveries, is_complete, ...room }) => (
      <Link to="/deliveries" search={{ status: WAITING_STATUSES, account: account.guid, ...whichOf(room) }}>
        {is_complete ? '' : 'more than '}
        {deliveries.toLocaleString()}
      </Link>
    ),
  },
  { header: 'Oldest', value: ({ oldest_at }) => oldest_at, cell: ({ oldest_at }) => <Moment at={oldest_at} /> },
  {
    header: 'Host',
    cell: ({ url }) => <StopHost url={url} />,
  },
];

type Room = Pick<WaitingEndpoint | WaitingDestination, 'shut_since' | 'is_claimed' | 'next_try_at'>;

/** Since when nothing of a room is accepted, and when it is tried next. */
export function RoomState({ room: { shut_since, is_claimed, next_try_at } }: { room: Room }) {
  return (
    <div className="small">
      {shut_since !== null && (
        <>
          takes nothing since <Moment at={shut_since} />,{' '}
        </>
      )}
      {is_claimed || next_try_at === null ? (
        'being tried now'
      ) : (
        <>
          next try <Moment at={next_try_at} />
        </>
      )}
    </div>
  );
}
