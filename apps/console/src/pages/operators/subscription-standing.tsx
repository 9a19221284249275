import { Foreign } from '../../parts/text-block.tsx';
import { Moment, Status } from '../../parts/values.tsx';
import type { OperatorSubscription } from './types.ts';

type StandingProps = {
  subscription: Pick<OperatorSubscription, 'standing' | 'ended_at' | 'paused_until' | 'stopped'>;
};

/** The state of a subscription, and since or until when it is stopped or paused. */
export function SubscriptionStanding({ subscription: { standing, ended_at, paused_until, stopped } }: StandingProps) {
  return (
    <>
      <Status of={standing.replace('_', ' ')} /> {ended_at !== null && <Moment at={ended_at} />}
      {stopped !== null && (
        <div className="small">
          <Status of="stopped" /> <Moment at={stopped.at} /> <Foreign text={stopped.reason} />
        </div>
      )}
      {paused_until !== null && (
        <div className="small">
          <Status of="paused" /> until <Moment at={paused_until} />
        </div>
      )}
    </>
  );
}
