import { Moment } from '../../parts/moment.tsx';

type MissedProps = { missed: { since: string; until: string; count?: number } | undefined };

/** How many a subscription missed while it was off, and when that was. */
export function MissedCount({ missed }: MissedProps) {
  if (missed === undefined || missed.count === 0) return <p>Nothing missed</p>;
  return (
    <p>
      {missed.count !== undefined && <strong>{missed.count.toLocaleString()} missed </strong>}
      from <Moment at={missed.since} /> to <Moment at={missed.until} />
    </p>
  );
}
