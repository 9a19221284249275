import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Guid } from '../../parts/guid.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { RowHealth } from './row-health.tsx';
import { RowStatus } from './row-status.tsx';
import { RowTools } from './row-tools.tsx';
import type { ListedSubscription } from './use-subscription-rows.ts';

const READ: readonly TableColumn<ListedSubscription>[] = [
  {
    header: 'Action',
    value: ({ subscription }) => subscription.action,
    cell: ({ subscription: { action, guid } }) => (
      <>
        {action} <Guid guid={guid} />
      </>
    ),
  },
  { header: 'Status', cell: (row) => <RowStatus row={row} /> },
  {
    header: 'URL',
    value: ({ subscription }) => subscription.callback_url,
    cell: ({ subscription }) => <Foreign text={subscription.callback_url} />,
  },
  { header: 'Last 24 hours', cell: (row) => <RowHealth row={row} /> },
];

const WRITE = [...READ, { header: 'Manage', cell: (row: ListedSubscription) => <RowTools row={row} /> }];

/** Subscriptions, one a row, in the order given. Stands within `SubscriptionDialogs`. */
export function SubscriptionTable({ label, rows }: { label: string; rows: readonly ListedSubscription[] }) {
  const session = useSignedIn();
  return (
    <div className="subscriptions">
      <DataTable
        label={label}
        rows={rows}
        columns={mayWrite(session) ? WRITE : READ}
        keyOf={({ subscription }) => subscription.guid}
      />
    </div>
  );
}
