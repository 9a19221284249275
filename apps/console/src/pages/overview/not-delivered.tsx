import { Link } from '@tanstack/react-router';
import type { components } from '../../api/client-api.d.ts';
import { useTold } from '../../api/use-told.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Moment } from '../../parts/moment.tsx';
import { Found } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { ActionOf } from '../deliveries/delivery-columns.tsx';
import { KeyNames } from '../deliveries/keys.tsx';
import { Retrying, Waiting } from '../subscriptions/row-status.tsx';
import type { ListedSubscription, useUnfinished } from '../subscriptions/use-subscription-rows.ts';

type ListedDelivery = components['schemas']['ListedDelivery'];

const SHOWN = 20;
const LOOK_EVERY_MS = 15_000;

const COLUMNS: readonly TableColumn<ListedDelivery>[] = [
  {
    header: 'Time',
    cell: ({ guid, at }) => (
      <Link to="/deliveries/$guid" params={{ guid }} className="row-link quietly">
        <Moment at={at} />
      </Link>
    ),
  },
  { header: 'Action', cell: (delivery) => <ActionOf delivery={delivery} /> },
  { header: 'Key', cell: ({ keys }) => <KeyNames keys={keys} /> },
  { header: 'Status', cell: ({ status }) => <Status of={status} /> },
  { header: 'Why', cell: (delivery) => whyOf(delivery) },
  { header: 'Attempts', cell: ({ attempts }) => attempts.length, isNumber: true },
];

type NotDeliveredProps = ReturnType<typeof useUnfinished>;

/** Deliveries that wait or are tried again, and the last ones that did not get through: each leads to what happened to it. */
export function NotDelivered({ retrying, waiting }: NotDeliveredProps) {
  const latest = useTold(
    ['deliveries', 'not delivered'],
    ({ client }) =>
      client.GET('/v1/deliveries', { params: { query: { status: ['exhausted', 'dropped'], limit: SHOWN } } }),
    { refetchInterval: LOOK_EVERY_MS },
  );
  return (
    <section className="part" aria-label="Not delivered">
      <div className="section-header">
        <h2>Not delivered</h2>
        <Link to="/deliveries" search={{ status: 'exhausted,dropped' }}>
          All
        </Link>
      </div>
      <Unfinished retrying={retrying.data?.objects ?? []} waiting={waiting.data?.objects ?? []} />
      <Found of={latest} what="deliveries">
        {({ objects }) =>
          objects.length > 0 ? (
            <DataTable label="Not delivered" rows={objects} columns={COLUMNS} keyOf={({ guid }) => guid} />
          ) : (
            retrying.data?.objects.length === 0 && waiting.data?.objects.length === 0 && <Calm />
          )
        }
      </Found>
    </section>
  );
}

type UnfinishedProps = Record<'retrying' | 'waiting', ListedSubscription['retrying']>;

function Unfinished({ retrying, waiting }: UnfinishedProps) {
  if (retrying.length + waiting.length === 0) return null;
  return (
    <p className="card line">
      {waiting.length > 0 && <Waiting waiting={waiting} />}
      {retrying.length > 0 && <Retrying retrying={retrying} />}
    </p>
  );
}

/** Nothing of what there is has failed or waits. */
function Calm() {
  const any = useTold(['deliveries', 'any'], ({ client }) =>
    client.GET('/v1/deliveries', { params: { query: { limit: 1 } } }),
  );
  return (
    <Found of={any} what="deliveries">
      {({ objects }) => (
        <p className="state">
          {objects.length === 0 ? 'Nothing sent yet, or no longer kept.' : 'Every delivery got through.'}
        </p>
      )}
    </Found>
  );
}

/** Describes the receiver's last answer and its meaning. */
function whyOf({ attempts, meaning, reason }: ListedDelivery): string {
  const { http_status: status } = attempts.at(-1) ?? {};
  const words = meaning ?? reason ?? '';
  return status === undefined ? words : `HTTP ${status}: ${words}`;
}
