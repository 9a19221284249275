import type { ReactNode } from 'react';
import { Moment } from '../../parts/moment.tsx';
import { ruleInWords } from '../../parts/rule-in-words.ts';
import type { Delivery } from './types.ts';

type Reasons = Pick<Delivery, 'status' | 'meaning' | 'remedy' | 'reason' | 'waiting' | 'deactivation'>;

const WAITING: Readonly<Record<NonNullable<Reasons['waiting']>['why'], string>> = {
  full: 'its endpoint answers, and takes no more at once.',
  hung: 'its endpoint does not answer.',
  busy: 'its endpoint said that it was too much (429 or 503).',
  paused: 'its subscription is paused by its client.',
  stopped: 'its subscription, or its host, is stopped by the operator.',
  egress: "Waybell's own network has no way out.",
  open: 'a request of it is under way.',
};

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
          Waiting since <Moment at={waiting.since} />: {WAITING[waiting.why]}
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
