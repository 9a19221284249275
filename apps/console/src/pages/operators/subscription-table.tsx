import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { ClientLink, WhyLink } from './links.tsx';
import { StopButton } from './stops/stop-button.tsx';
import { SubscriptionStanding } from './subscription-standing.tsx';
import type { OperatorSubscription } from './types.ts';

/** Subscriptions of an account and how they stand: those with trouble first. */
export function SubscriptionTable({
  subscriptions,
  label = 'Subscriptions',
}: {
  subscriptions: readonly OperatorSubscription[];
  label?: string;
}) {
  const rows = subscriptions.toSorted((a, b) => calmOf(a) - calmOf(b) || a.action.localeCompare(b.action));
  return <DataTable label={label} rows={rows} columns={columns} keyOf={({ guid }) => guid} />;
}

/** The less, the more it needs a person. */
function calmOf({ standing, stopped, failing_since, paused_until }: OperatorSubscription): number {
  if (standing === 'switched_off') return 0;
  if (stopped !== null) return 1;
  if ((failing_since ?? null) !== null) return 2;
  if (paused_until !== null) return 3;
  return standing === 'active' ? 4 : 5;
}

const columns: readonly TableColumn<OperatorSubscription>[] = [
  {
    header: 'Subscription',
    value: ({ action }) => action,
    cell: ({ guid, action, account, client_id }) => (
      <>
        <WhyLink guid={guid}>{action}</WhyLink>
        <div className="small">
          <ClientLink account={account.guid} client={client_id} page="/subscriptions" />
        </div>
      </>
    ),
  },
  {
    header: 'State',
    value: calmOf,
    cell: (subscription) => <SubscriptionStanding subscription={subscription} />,
  },
  { header: 'URL', value: ({ url }) => url, cell: ({ url }) => <Foreign text={url} /> },
  {
    header: 'Failing since',
    value: ({ failing_since }) => failing_since ?? '',
    cell: ({ failing_since }) => failing_since && <Moment at={failing_since} />,
  },
  {
    header: 'Last success',
    value: ({ last_success_at }) => last_success_at ?? '',
    cell: ({ last_success_at }) => last_success_at && <Moment at={last_success_at} />,
  },
  {
    header: 'Stop',
    cell: ({ guid, action, ended_at }) =>
      ended_at === null && <StopButton what={{ kind: 'subscription', guid, action }} />,
  },
];
