import type { Channel } from 'amqplib';

export const bareEventsExchange = 'bare.events';
export const bareEventsQueue = 'bare.events';
export const bareDeliveriesQueue = 'bare.deliveries';

/** Acknowledges handled messages together: at the end of a turn of the event loop, all before the first that is still in hand. */
export function acknowledgeTogether(channel: Channel): (deliveryTag: number) => void {
  const handled = new Set<number>();
  let acknowledged = 0;
  let isDue = false;
  const flush = () => {
    isDue = false;
    let upTo = acknowledged;
    while (handled.delete(upTo + 1)) upTo += 1;
    if (upTo === acknowledged) return;
    acknowledged = upTo;
    // amqplib reads nothing of the message but its tag.
    channel.ack({ fields: { deliveryTag: upTo } } as Parameters<Channel['ack']>[0], true);
  };
  return (deliveryTag) => {
    handled.add(deliveryTag);
    if (!isDue) setImmediate(flush);
    isDue = true;
  };
}
