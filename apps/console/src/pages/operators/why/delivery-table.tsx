import { DataTable, type TableColumn } from '../../../parts/data-table.tsx';
import { Moment } from '../../../parts/moment.tsx';
import { Empty } from '../../../parts/states.tsx';
import { Status } from '../../../parts/status.tsx';
import { standingOf } from '../../find/types.ts';
import { WhyLink } from '../links.tsx';
import type { OperatorDelivery } from '../types.ts';

/** The latest deliveries, each leading to all that is known of it. */
export function DeliveryTable({ deliveries }: { deliveries: readonly OperatorDelivery[] }) {
  if (deliveries.length === 0) return <Empty>No deliveries.</Empty>;
  return <DataTable label="Latest deliveries" rows={deliveries} columns={columns} keyOf={({ guid }) => guid} />;
}

const columns: readonly TableColumn<OperatorDelivery>[] = [
  { header: 'Delivery', cell: ({ guid }) => <WhyLink guid={guid} /> },
  { header: 'State', value: standingOf, cell: (delivery) => <Status of={standingOf(delivery)} /> },
  { header: 'Action', value: ({ action }) => action, cell: ({ action }) => action },
  { header: 'Created', value: ({ at }) => at, cell: ({ at }) => <Moment at={at} /> },
  {
    header: 'Attempts',
    isNumber: true,
    value: ({ attempts }) => attempts.length,
    cell: ({ attempts }) => attempts.length,
  },
  {
    header: 'Reason',
    value: ({ reason }) => reason ?? '',
    cell: ({ reason }) => (reason === undefined ? '–' : <code>{reason}</code>),
  },
  { header: 'Event', cell: ({ event_guid }) => <WhyLink guid={event_guid} /> },
];
