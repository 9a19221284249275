import type { DeliveryEnd } from '@waybell/line/delivery-ends';
import type { Handler } from '@waybell/line/messages';
import type { Deactivation, SettleDeliveries } from './settle-deliveries.ts';

export type DeactivateOptions = { settle: SettleDeliveries; onDeactivated: (deactivation: Deactivation) => void };

/** Switches a subscription off when its deliveries only fail. Which ends count, the deliverer knows (`libs/line/delivery-ends.ts`). */
export function deactivate({ settle, onDeactivated }: DeactivateOptions): Handler<DeliveryEnd[]> {
  return async (ends) => {
    (await settle(ends)).forEach(onDeactivated);
    return [];
  };
}
