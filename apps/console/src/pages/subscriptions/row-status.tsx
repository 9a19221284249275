import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { Moment } from '../../parts/moment.tsx';
import { ruleInWords } from '../../parts/words.ts';
import { Status } from '../../parts/status.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { MOST_RETRYING, type ListedSubscription } from './use-subscription-rows.ts';

/** How a subscription stands, and why, in a line. */
export function RowStatus({ row }: { row: ListedSubscription }) {
  return (
    <div className="row-status">
      <Status of={row.condition === 'missed' ? 'active' : row.condition} />
      <Why row={row} />
    </div>
  );
}

function Why({ row: { subscription, condition, retrying } }: { row: ListedSubscription }) {
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
    case 'retrying':
      return (
        <Small>
          <Link to="/deliveries" search={{ status: 'retrying', subscription: guid }}>
            {retrying.length === MOST_RETRYING ? `${MOST_RETRYING} or more` : retrying.length} retrying
          </Link>
          : {failureOf(retrying)}
        </Small>
      );
    case 'active':
      return null;
  }
}

const Small = ({ children }: { children: ReactNode }) => <span className="small">{children}</span>;

/** Returns the failure of the newest of their attempts. */
function failureOf(retrying: ListedSubscription['retrying']): string {
  const { http_status: status, meaning = '' } = retrying[0]?.attempts.at(-1) ?? {};
  return status === undefined ? meaning : `HTTP ${status}`;
}
