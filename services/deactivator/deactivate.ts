import { reject, type Handler, type Message, type Rejection } from '@waybell/line/messages';
import { readOutcomes, type Outcome } from '@waybell/line/outcomes';
import type { Deactivation, Ended, SettleDeliveries } from './settle-deliveries.ts';

export function readBatch({ body }: Message): Outcome[] | Rejection {
  try {
    return readOutcomes(body);
  } catch (error) {
    return reject('not_outcomes', error instanceof Error ? error.message : String(error));
  }
}

export type DeactivateOptions = { settle: SettleDeliveries; onDeactivated: (deactivation: Deactivation) => void };

/**
 * Switches a subscription off when its deliveries only fail. Only ends count: a failed attempt that a retry makes good
 * is not a failed message, and one that grew too old before its first attempt says nothing about its receiver.
 */
export function deactivate({ settle, onDeactivated }: DeactivateOptions): Handler<Outcome[]> {
  return async (outcomes) => {
    const ended = outcomes.filter(isEnd);
    if (ended.length > 0) (await settle(ended)).forEach(onDeactivated);
    return [];
  };
}

function isEnd(outcome: Outcome): outcome is Ended {
  if (outcome.kind === 'exhausted') return outcome.attempt > 1 || outcome.answer.reason !== 'expired';
  return outcome.kind === 'delivered';
}
