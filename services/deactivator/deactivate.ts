import type { DeliveryEnd } from '@waybell/line/delivery-ends';
import type { Handler } from '@waybell/line/messages';
import type { SettleDeliveries } from './settle-deliveries.ts';

export type DeactivateOptions = { settle: SettleDeliveries };

/**
 * Switches a subscription off when its deliveries only fail. Which ends count, the deliverer knows (`libs/line/delivery-ends.ts`); what
 * was switched off is written down with that, and told from there (`deactivations.ts`).
 */
export function deactivate({ settle }: DeactivateOptions): Handler<DeliveryEnd[]> {
  return async (ends) => {
    await settle(ends);
    return [];
  };
}
