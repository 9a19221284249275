import { Link } from '@tanstack/react-router';
import type { components } from '../../api/client-api.d.ts';
import type { TableColumn } from '../../parts/data-table.tsx';
import type { Period } from '../../parts/time.ts';
import { Status } from '../../parts/status.tsx';

export type MissedOfAction = components['schemas']['MissedOfAction'];

/** The columns for a period, in which each count leads to what it counts. */
export function missedColumns(period: Period): readonly TableColumn<MissedOfAction>[] {
  const counted = (status: 'exhausted' | 'dropped') => (row: MissedOfAction) =>
    row[status] === 0 ? (
      '–'
    ) : (
      <Link to="/deliveries" search={{ ...period, status, action: row.action }}>
        {row[status].toLocaleString()}
      </Link>
    );
  return [
    { header: 'Action', value: ({ action }) => action, cell: ({ action }) => action },
    { header: 'Subscription', cell: (row) => <Standing of={row} /> },
    { header: 'Given up', isNumber: true, value: ({ exhausted }) => exhausted, cell: counted('exhausted') },
    { header: 'Dropped', isNumber: true, value: ({ dropped }) => dropped, cell: counted('dropped') },
    {
      header: 'Not sent',
      isNumber: true,
      value: ({ suppressed }) => suppressed,
      cell: ({ suppressed }) => (suppressed === 0 ? '–' : suppressed.toLocaleString()),
    },
    {
      header: 'No longer kept',
      isNumber: true,
      value: ({ gone }) => gone,
      cell: ({ gone }) => (gone === 0 ? '–' : gone.toLocaleString()),
    },
    {
      header: 'To replay',
      isNumber: true,
      value: toReplay,
      cell: (row) => <strong>{toReplay(row).toLocaleString()}</strong>,
    },
  ];
}

/** Number of deliveries that a replay would send to the current subscription: none without one, or while it is off. */
export const toReplay = ({ is_active: isOn, exhausted, dropped, suppressed }: MissedOfAction): number =>
  isOn ? exhausted + dropped + suppressed : 0;

function Standing({ of: { subscription_guid: guid, is_active: isActive } }: { of: MissedOfAction }) {
  if (isActive) return <Status of="active" />;
  return (
    <span className="line">
      <Status of={guid === null ? 'none' : 'switched off'} />
      <Link to="/subscriptions">{guid === null ? 'Subscribe' : 'Switch on'}</Link>
    </span>
  );
}
