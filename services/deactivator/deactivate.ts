import type { Handler } from '@waybell/line/messages';
import type { Outcome } from '@waybell/line/outcomes';
import { unattempted } from '@waybell/line/reasons';
import type { Deactivation, Ended, SettleDeliveries } from './settle-deliveries.ts';

export type DeactivateOptions = { settle: SettleDeliveries; onDeactivated: (deactivation: Deactivation) => void };

/**
 * Switches a subscription off when its deliveries only fail. Only ends count: a failed attempt that a retry makes good
 * is not a failed message, and one that waited too long, whatever was tried before, says nothing about its receiver. Nor
 * does what somebody sends by hand say whether a receiver fails by itself.
 */
export function deactivate({ settle, onDeactivated }: DeactivateOptions): Handler<Outcome[]> {
  return async (outcomes) => {
    const ended = outcomes.filter(isEnd);
    if (ended.length > 0) (await settle(ended)).forEach(onDeactivated);
    return [];
  };
}

function isEnd(outcome: Outcome): outcome is Ended {
  if ((outcome.kind !== 'delivered' && outcome.kind !== 'exhausted') || outcome.byHand !== undefined) return false;
  return outcome.kind === 'delivered' || !unattempted.includes(outcome.answer.reason ?? '');
}
