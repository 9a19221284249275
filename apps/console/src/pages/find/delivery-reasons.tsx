import type { ReactNode } from 'react';
import { Moment } from '../../parts/moment.tsx';
import type { Delivery } from './types.ts';

type Reasons = Pick<Delivery, 'meaning' | 'remedy' | 'reason' | 'parked' | 'deactivation'>;

/** Why a delivery stands as it does, and what it did to its subscription. */
export function DeliveryReasons({ delivery, seeAlso }: { delivery: Reasons; seeAlso: ReactNode }) {
  const { meaning, remedy, reason, parked, deactivation } = delivery;
  return (
    <>
      {reason !== undefined && (
        <p className="why">
          <code>{reason}</code> {meaning} <em>{remedy}</em>
        </p>
      )}
      {parked !== undefined && (
        <p className="why">
          Parked since <Moment at={parked.since} />:{' '}
          {parked.why === 'egress'
            ? "Waybell's own network has no way out."
            : parked.why === 'hung'
              ? 'its endpoint does not answer.'
              : parked.why === 'busy'
                ? 'its endpoint said that it was too much (429 or 503).'
                : 'its endpoint answers, and takes no more at once.'}
        </p>
      )}
      {deactivation !== undefined && (
        <p className="why">
          This delivery switched the subscription off at <Moment at={deactivation.at} /> (rule {deactivation.rule}). See{' '}
          {seeAlso}.
        </p>
      )}
    </>
  );
}
