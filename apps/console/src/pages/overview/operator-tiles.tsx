import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { writtenDuration } from '../../parts/time.ts';
import { Foreign } from '../../parts/text-block.tsx';
import { useNow } from '../../parts/use-now.ts';
import { counted } from '../../parts/counted.ts';
import { WAITING_STATUSES } from '../operators/waiting-endpoints.tsx';
import type { AccountName, Overview } from '../operators/types.ts';

/** The figures, each with the way to what it counts. */
export function OperatorTiles({ overview }: { overview: Overview }) {
  const now = useNow(true);
  return (
    <ul className="tiles">
      <LastHour lastHour={overview.last_hour} now={now} />
      <Waiting waiting={overview.waiting} now={now} />
      <Off overview={overview} />
      <Rejected overview={overview} now={now} />
    </ul>
  );
}

type Now = { now: number };

function LastHour({ lastHour, now }: { lastHour: Overview['last_hour'] } & Now) {
  if (lastHour === null) return null;
  const { failed, attempts, oldest_unfinished: oldest, since } = lastHour;
  return (
    <>
      <Tile name="Failing, last hour" figure={share(failed, attempts)} to={{ to: '/failing' }}>
        {failed.toLocaleString()} of {counted(attempts, 'attempt')},{' '}
        <Link to="/deliveries" search={{ status: 'exhausted,dropped', since }}>
          those given up
        </Link>
      </Tile>
      {oldest === null ? (
        <Tile name="Oldest unfinished" figure="None" to={{ to: '/failing' }}>
          of the last hour
        </Tile>
      ) : (
        <Tile
          name="Oldest unfinished"
          figure={writtenDuration(now - Date.parse(oldest.at))}
          to={{ to: '/why', search: { text: oldest.guid } }}
        >
          {oldest.action} for <Called account={oldest.account} />, {counted(oldest.attempts, 'attempt')}
        </Tile>
      )}
    </>
  );
}

function Waiting({
  waiting: { deliveries, endpoints, shut, oldest_at: oldestAt },
  now,
}: Pick<Overview, 'waiting'> & Now) {
  return (
    <Tile
      name="Waiting for an endpoint"
      figure={deliveries.toLocaleString()}
      to={{ to: '/deliveries', search: { status: WAITING_STATUSES } }}
    >
      {counted(endpoints, 'endpoint')}, {shut.toLocaleString()} taking nothing
      {oldestAt !== null && <>, oldest {writtenDuration(now - Date.parse(oldestAt))}</>}
    </Tile>
  );
}

function Off({ overview: { switched_off: off, stopped } }: { overview: Overview }) {
  return (
    <>
      <Tile
        name="Switched off, last 24 hours"
        figure={off.lately.toLocaleString()}
        to={{ to: '/switched-off', search: { since: off.since } }}
        isBad={off.lately > 0}
      >
        <Link to="/switched-off">{off.now.toLocaleString()} off now</Link>
      </Tile>
      <Tile
        name="Stopped"
        figure={(stopped.subscriptions + stopped.hosts).toLocaleString()}
        to={{ to: '/stopped' }}
        isBad={stopped.subscriptions + stopped.hosts > 0}
      >
        {counted(stopped.subscriptions, 'subscription')}, {counted(stopped.hosts, 'host')}
      </Tile>
    </>
  );
}

function Rejected({ overview: { rejected, last_hour: lastHour }, now }: { overview: Overview } & Now) {
  const last = lastHour?.last_rejected_at ?? null;
  return (
    <Tile
      name="Rejected"
      figure={rejected === null ? 'Not known' : rejected.toLocaleString()}
      to={{ to: '/rejected' }}
      isBad={(rejected ?? 0) > 0}
    >
      {last === null ? 'none in the last hour' : `newest ${writtenDuration(now - Date.parse(last))} ago`}
    </Tile>
  );
}

type TileProps = { name: string; figure: string; to: LinkProps; isBad?: boolean; children: ReactNode };

function Tile({ name, figure, to, isBad = false, children }: TileProps) {
  return (
    <li className="card">
      <Link {...to}>
        <span>{name}</span>
        <strong className={isBad ? 'bad' : ''}>{figure}</strong>
      </Link>
      <span className="small">{children}</span>
    </li>
  );
}

function Called({ account: { guid, name } }: { account: AccountName }) {
  return <Foreign text={name ?? guid.slice(0, 8)} />;
}

function share(failed: number, attempts: number): string {
  const percent = (100 * failed) / Math.max(1, attempts);
  return `${percent.toLocaleString(undefined, { maximumFractionDigits: percent < 10 ? 1 : 0 })} %`;
}
