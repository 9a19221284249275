import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Moment } from '../../parts/moment.tsx';
import { ruleInWords, WAITING } from '../../parts/words.ts';
import { Status } from '../../parts/status.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { MOST_UNFINISHED, type ListedSubscription } from './use-subscription-rows.ts';

/** How a subscription stands, and why, in a line. */
export function RowStatus({ row }: { row: ListedSubscription }) {
  return (
    <div className="row-status">
      <Status of={row.condition === 'missed' ? 'active' : row.condition} />
      <Why row={row} />
    </div>
  );
}

function Why({ row: { subscription, condition, retrying, waiting } }: { row: ListedSubscription }) {
  const { guid, stopped, deactivation, missed, suspension, paused_until: pausedUntil } = subscription;
  switch (condition) {
    case 'stopped':
      return (
        stopped && (
          <Small>
            by the operator since <Moment at={stopped.at} />: <Foreign text={stopped.reason} />
          </Small>
        )
      );
    case 'switched off':
      return (
        deactivation && (
          <Small>
            <Moment at={deactivation.at} />: {ruleInWords(deactivation.rule)}
          </Small>
        )
      );
    case 'missed':
      return (
        missed && (
          <Small>
            {missed.count !== undefined && `${missed.count.toLocaleString()} `}missed from <Moment at={missed.since} />{' '}
            to <Moment at={missed.until} />
          </Small>
        )
      );
    case 'suspended':
      return suspension && <Small>the account does not have the feature {suspension.feature}</Small>;
    case 'paused':
      return (
        pausedUntil !== undefined && (
          <Small>
            until <Moment at={pausedUntil} />: deliveries wait
          </Small>
        )
      );
    case 'waiting':
    case 'retrying':
      return (
        <>
          {waiting.length > 0 && <Waiting waiting={waiting} subscription={guid} />}
          {retrying.length > 0 && <Retrying retrying={retrying} subscription={guid} />}
        </>
      );
    case 'not known yet':
    case 'active':
      return null;
  }
}

const atLeast = ({ length }: readonly unknown[]): string =>
  length === MOST_UNFINISHED ? `${MOST_UNFINISHED} or more` : length.toLocaleString();

type RetryingProps = { retrying: ListedSubscription['retrying']; subscription?: string };

/** How many deliveries are to be tried again, of a subscription or of all, and what the newest of their attempts says. */
export function Retrying({ retrying, subscription }: RetryingProps) {
  return (
    <Small>
      <Link to="/deliveries" search={{ status: 'retrying', ...(subscription !== undefined && { subscription }) }}>
        {atLeast(retrying)} retrying
      </Link>
      : {failureOf(retrying)}
    </Small>
  );
}

type WaitingProps = { waiting: ListedSubscription['waiting']; subscription?: string };

/** How many deliveries wait, of a subscription or of all, since when and why. */
export function Waiting({ waiting, subscription }: WaitingProps) {
  const [newest, oldest] = [waiting[0], waiting.at(-1)];
  return (
    <Small>
      <Link to="/deliveries" search={{ status: 'waiting', ...(subscription !== undefined && { subscription }) }}>
        {atLeast(waiting)} waiting
      </Link>{' '}
      since {oldest !== undefined && <Moment at={oldest.at} />}
      {waiting.length === MOST_UNFINISHED && ' or longer'}
      {newest?.waiting !== undefined && subscription !== undefined && <>: {WAITING[newest.waiting.why][0]}</>}
    </Small>
  );
}

const Small = ({ children }: { children: ReactNode }) => <span className="small">{children}</span>;

/** Returns the failure of the newest of their attempts. */
function failureOf(retrying: ListedSubscription['retrying']): string {
  const { http_status: status, meaning = '' } = retrying[0]?.attempts.at(-1) ?? {};
  return status === undefined ? meaning : `HTTP ${status}`;
}
