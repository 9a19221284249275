import { byHand, type Sendings } from '@waybell/delivery-log-service/sendings';
import { readDelivery, type Delivery } from '@waybell/line/delivery';
import { isRejection } from '@waybell/line/messages';
import { publishClaimedBy } from '@waybell/line/testing/publish-claimed-by';
import { silentLog } from '@waybell/runtime/testing/database';
import type { LogStand } from '@waybell/delivery-log/testing/log-stand';

/** Sends what was asked for and is due, as the delivery log does; resolves with the deliveries. */
export async function sentByHand({ write }: LogStand, sendings: Sendings): Promise<Delivery[]> {
  const sent: Delivery[] = [];
  await publishClaimedBy(byHand({ sendings, write, log: silentLog }), async (publication) => {
    const delivery = readDelivery({ queue: '', deliveryCount: 0, failures: 0, ...publication });
    if (isRejection(delivery)) throw new Error(delivery.detail);
    sent.push(delivery);
  });
  return sent;
}
