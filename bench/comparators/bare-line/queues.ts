import type { Channel } from 'amqplib';

export const bareEventsExchange = 'bare.events';
export const bareEventsQueue = 'bare.events';
export const bareDeliveriesQueue = 'bare.deliveries';

/**
 * Acknowledges what is settled, many at a time: when the turn of the event loop is over, all up to the last message
 * before which none is still under way.
 */
export function acknowledgeTogether(channel: Channel): (deliveryTag: number) => void {
  const settled = new Set<number>();
  let acknowledged = 0;
  let isDue = false;
  const flush = () => {
    isDue = false;
    let upTo = acknowledged;
    while (settled.delete(upTo + 1)) upTo += 1;
    if (upTo === acknowledged) return;
    acknowledged = upTo;
    // amqplib reads nothing of the message but its tag.
    channel.ack({ fields: { deliveryTag: upTo } } as Parameters<Channel['ack']>[0], true);
  };
  return (deliveryTag) => {
    settled.add(deliveryTag);
    if (!isDue) setImmediate(flush);
    isDue = true;
  };
}
