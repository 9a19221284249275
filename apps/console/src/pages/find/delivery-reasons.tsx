import type { ReactNode } from 'react';
import { Moment } from '../../parts/moment.tsx';
import { ruleInWords, WAITING } from '../../parts/words.ts';
import type { Delivery } from './types.ts';

type Reasons = Pick<Delivery, 'status' | 'meaning' | 'remedy' | 'reason' | 'waiting' | 'deactivation'>;

/** Why a delivery stands as it does, what helps, and what it did to its subscription. */
export function DeliveryReasons({ delivery, seeAlso }: { delivery: Reasons; seeAlso: ReactNode }) {
  const { status, meaning, remedy, reason, waiting, deactivation } = delivery;
  if (reason === undefined && waiting === undefined && deactivation === undefined) return null;
  return (
    <div className={`reasons ${status}`}>
      {reason !== undefined && (
        <p>
          <strong>{meaning}</strong> <code>{reason}</code>
        </p>
      )}
      {remedy !== undefined && <p>{remedy}</p>}
      {waiting !== undefined && (
        <p>
          Waiting since <Moment at={waiting.since} />: {WAITING[waiting.why][0]}
        </p>
      )}
      {deactivation !== undefined && (
        <p>
          This delivery switched the subscription off at <Moment at={deactivation.at} />:{' '}
          {ruleInWords(deactivation.rule)}. See {seeAlso}.
        </p>
      )}
    </div>
  );
}
