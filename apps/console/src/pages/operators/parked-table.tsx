import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Empty } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { AccountLink, WhyLink } from './links.tsx';
import type { ParkedEndpoint } from './types.ts';

/** Which endpoints deliveries wait for, the longest first. */
export function ParkedTable({ endpoints }: { endpoints: readonly ParkedEndpoint[] }) {
  if (endpoints.length === 0) return <Empty>Nothing is parked.</Empty>;
  return <DataTable label="Parked endpoints" rows={endpoints} columns={columns} keyOf={endpointOf} />;
}

const endpointOf = ({ account, url }: ParkedEndpoint) => `${account.guid} ${url}`;

const columns: readonly TableColumn<ParkedEndpoint>[] = [
  { header: 'Endpoint', value: ({ url }) => url, cell: ({ url }) => <Foreign text={url} /> },
  {
    header: 'Account',
    value: ({ account }) => account.name ?? account.guid,
    cell: ({ account }) => <AccountLink account={account} />,
  },
  {
    header: 'State',
    value: ({ is_hung }) => (is_hung ? 0 : 1),
    cell: ({ is_hung, is_owned }) => (
      <>
        <Status of={is_hung ? 'hung' : 'full'} /> {is_hung ? 'does not answer' : 'takes no more at once'}
        {!is_owned && <div className="bad">No deliverer takes care of it.</div>}
      </>
    ),
  },
  {
    header: 'Deliveries',
    isNumber: true,
    value: ({ deliveries }) => deliveries,
    cell: ({ deliveries }) => deliveries.toLocaleString(),
  },
  { header: 'Bytes', isNumber: true, value: ({ bytes }) => bytes, cell: ({ bytes }) => bytes.toLocaleString() },
  { header: 'Since', value: ({ oldest_at }) => oldest_at, cell: ({ oldest_at }) => <Moment at={oldest_at} /> },
  {
    header: 'Subscriptions',
    cell: ({ subscription_guids }) => (
      <span className="line">
        {subscription_guids.map((guid) => (
          <WhyLink key={guid} guid={guid} />
        ))}
      </span>
    ),
  },
];
