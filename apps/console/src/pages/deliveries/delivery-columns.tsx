import { Link } from '@tanstack/react-router';
import type { TableColumn } from '../../parts/data-table.tsx';
import { Moment, Status } from '../../parts/values.tsx';
import { writtenDuration } from '../../parts/time.ts';
import { Foreign } from '../../parts/text-block.tsx';
import { standingOf } from '../find/delivery.ts';
import { AccountLink } from '../operators/links.tsx';
import { KeyNames } from './keys.tsx';
import type { ShownDelivery } from './listed-deliveries.ts';

const last = ({ attempts }: ShownDelivery) => attempts.at(-1);

const about: readonly TableColumn<ShownDelivery>[] = [
  { header: 'Action', cell: (delivery) => <ActionOf delivery={delivery} /> },
  { header: 'Key', cell: ({ keys }) => <KeyNames keys={keys} /> },
  { header: 'Status', cell: (delivery) => <Status of={standingOf(delivery)} /> },
  { header: 'HTTP', isNumber: true, cell: (delivery) => <Answer delivery={delivery} /> },
  { header: 'Attempts', isNumber: true, cell: ({ attempts }) => attempts.length },
  {
    header: 'Duration',
    isNumber: true,
    cell: (delivery) => {
      const ms = last(delivery)?.duration_ms;
      return ms === undefined ? '–' : <span className="quietly">{writtenDuration(ms)}</span>;
    },
  },
];

/** The delivery's action; a test by hand is none of the platform's events. */
export function ActionOf({ delivery: { action, attempts } }: { delivery: Pick<ShownDelivery, 'action' | 'attempts'> }) {
  const isTest = attempts[0]?.by_hand === 'test';
  return (
    <>
      {action} {isTest && <span className="tag">test</span>}
    </>
  );
}

/** The receiver's last answer or, without one, the reason. */
function Answer({ delivery }: { delivery: ShownDelivery }) {
  const attempt = last(delivery);
  const reason = delivery.reason ?? attempt?.reason;
  if (attempt?.http_status !== undefined) return <code title={reason}>{attempt.http_status}</code>;
  return reason === undefined ? '–' : <code>{reason}</code>;
}

export const clientColumns: readonly TableColumn<ShownDelivery>[] = [
  {
    header: 'Time',
    cell: ({ guid, at }) => (
      <Link to="/deliveries/$guid" params={{ guid }} className="row-link quietly">
        <Moment at={at} />
      </Link>
    ),
  },
  ...about,
];

export const operatorColumns: readonly TableColumn<ShownDelivery>[] = [
  {
    header: 'Time',
    cell: ({ guid, at }) => (
      <Link to="/why" search={{ text: guid, as: 'delivery' }} className="row-link quietly">
        <Moment at={at} />
      </Link>
    ),
  },
  { header: 'Account', cell: ({ account }) => (account === undefined ? '–' : <AccountLink account={account} />) },
  { header: 'Client', cell: ({ client_id: client }) => <Foreign text={client ?? '–'} /> },
  ...about,
];
