import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { WhyLink } from './links.tsx';
import { StopButton } from './stops/stop-button.tsx';
import { SubscriptionStanding } from './subscription-standing.tsx';
import type { OperatorSubscription } from './types.ts';

/** Subscriptions of an account, and how they stand. */
export function SubscriptionTable({ subscriptions }: { subscriptions: readonly OperatorSubscription[] }) {
  return <DataTable label="Subscriptions" rows={subscriptions} columns={columns} keyOf={({ guid }) => guid} />;
}

const columns: readonly TableColumn<OperatorSubscription>[] = [
  { header: 'Subscription', cell: ({ guid }) => <WhyLink guid={guid} /> },
  { header: 'Action', value: ({ action }) => action, cell: ({ action }) => action },
  {
    header: 'State',
    value: ({ standing }) => standing,
    cell: (subscription) => <SubscriptionStanding subscription={subscription} />,
  },
  {
    header: 'Stop',
    cell: ({ guid, action, ended_at }) =>
      ended_at === null && <StopButton what={{ kind: 'subscription', guid, action }} />,
  },
  {
    header: 'Failing since',
    value: ({ failing_since }) => failing_since ?? '',
    cell: ({ failing_since }) => (failing_since ? <Moment at={failing_since} /> : '–'),
  },
  {
    header: 'Last success',
    value: ({ last_success_at }) => last_success_at ?? '',
    cell: ({ last_success_at }) => (last_success_at ? <Moment at={last_success_at} /> : '–'),
  },
  { header: 'Client', value: ({ client_id }) => client_id, cell: ({ client_id }) => <Foreign text={client_id} /> },
  { header: 'Endpoint', value: ({ url }) => url, cell: ({ url }) => <Foreign text={url} /> },
  { header: 'Made', value: ({ created_at }) => created_at, cell: ({ created_at }) => <Moment at={created_at} /> },
];
