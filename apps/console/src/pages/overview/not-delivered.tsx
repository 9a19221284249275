import { Link } from '@tanstack/react-router';
import type { components } from '../../api/client-api.d.ts';
import { useTold } from '../../api/use-told.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Found } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';

type ListedDelivery = components['schemas']['ListedDelivery'];

const SHOWN = 20;
const LOOK_EVERY_MS = 15_000;

const COLUMNS: readonly TableColumn<ListedDelivery>[] = [
  {
    header: 'Action',
    cell: ({ guid, action }) => (
      <Link to="/deliveries/$guid" params={{ guid }}>
        {action}
      </Link>
    ),
  },
  { header: 'Status', cell: ({ status }) => <Status of={status} /> },
  { header: 'Why', cell: (delivery) => whyOf(delivery) },
  { header: 'Attempts', cell: ({ attempts }) => attempts.length, isNumber: true },
  {
    header: 'Time',
    cell: ({ at }) => (
      <span className="quietly">
        <Moment at={at} />
      </span>
    ),
  },
];

/** The last deliveries that did not get through: each leads to what happened to it. */
export function NotDelivered() {
  const exhausted = useLatest('exhausted');
  const dropped = useLatest('dropped');
  return (
    <section className="part" aria-label="Not delivered">
      <div className="section-header">
        <h2>Not delivered</h2>
        <Link to="/deliveries" search={{ status: 'exhausted,dropped' }}>
          All
        </Link>
      </div>
      <Found of={exhausted} what="deliveries">
        {(given) => (
          <Found of={dropped} what="deliveries">
            {({ objects }) => <Latest deliveries={[...given.objects, ...objects]} />}
          </Found>
        )}
      </Found>
    </section>
  );
}

function useLatest(status: 'exhausted' | 'dropped') {
  return useTold(
    ['deliveries', status],
    ({ client }) => client.GET('/v1/deliveries', { params: { query: { status, limit: SHOWN } } }),
    { refetchInterval: LOOK_EVERY_MS },
  );
}

function Latest({ deliveries }: { deliveries: readonly ListedDelivery[] }) {
  const latest = deliveries.toSorted((first, second) => second.at.localeCompare(first.at)).slice(0, SHOWN);
  if (latest.length === 0) return <p className="state">Everything got through.</p>;
  return <DataTable label="Not delivered" rows={latest} columns={COLUMNS} keyOf={({ guid }) => guid} />;
}

/** What the receiver answered last, and what that means. */
function whyOf({ attempts, meaning, reason }: ListedDelivery): string {
  const { http_status: status } = attempts.at(-1) ?? {};
  const words = meaning ?? reason ?? '';
  return status === undefined ? words : `HTTP ${status}: ${words}`;
}
