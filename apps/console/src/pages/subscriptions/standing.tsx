import type { ReactNode } from 'react';
import { Moment } from '../../parts/moment.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import type { Subscription } from './subscribing.ts';

/** How a subscription stands, in a word. */
export function standingOf({
  is_active: isActive,
  stopped,
  paused_until: pausedUntil,
  suspension,
}: Subscription): string {
  if (stopped !== undefined) return 'stopped';
  if (!isActive) return 'switched off';
  if (pausedUntil !== undefined) return 'paused';
  return suspension === undefined ? 'active' : 'suspended';
}

/** What keeps a subscription from being sent anything, since when, and what helps; what it missed while it was off. */
export function Standing({ subscription }: { subscription: Subscription }) {
  const { is_active: isActive, stopped, deactivation, paused_until: pausedUntil, suspension, missed } = subscription;
  return (
    <>
      {stopped !== undefined && (
        <Why>
          Stopped by the operator of Waybell at <Moment at={stopped.at} />: <Foreign text={stopped.reason} />.{' '}
          <em>What is due waits until the operator starts it again.</em>
        </Why>
      )}
      {deactivation !== undefined && (
        <Why>
          Switched off at <Moment at={deactivation.at} />:{' '}
          {deactivation.rule === 'exhausted'
            ? 'every attempt of a delivery failed.'
            : 'every delivery of the last 24 hours failed.'}{' '}
          <em>Make the receiver answer, then switch the subscription on.</em>
        </Why>
      )}
      {pausedUntil !== undefined && (
        <Why>
          Paused until <Moment at={pausedUntil} />. <em>What is due waits, and is sent then.</em>
        </Why>
      )}
      {suspension !== undefined && (
        <Why>
          Suspended: the account lacks the feature {suspension.feature}. <em>Ask the operator of Waybell for it.</em>
        </Why>
      )}
      {isActive && missed !== undefined && (
        <Why>
          It was off from <Moment at={missed.since} /> to <Moment at={missed.until} />.{' '}
          <em>What it missed can be replayed.</em>
        </Why>
      )}
    </>
  );
}

const Why = ({ children }: { children: ReactNode }) => <p className="why">{children}</p>;
