import { anEvent } from '../testing/event.ts';
import type { Party } from '../testing/subscribers.ts';
import type { Stage } from './stage.ts';

/** A shipper whose receiver, at `path`, fails the first attempt at each delivery. */
export async function failingAtFirst({ stack, receiver }: Stage, path: string): Promise<Party> {
  receiver.answer(path, (response, { headers }) =>
    response.writeHead(headers['x-webhook-attempt'] === '1' ? 500 : 200).end(),
  );
  const shipper = await stack.client('shipper');
  await shipper.subscribe('order.paid', receiver.url(path));
  return {
    anEvent: () => anEvent({ interface: 'shipper', action: 'order.paid', parties: { shipper: shipper.account } }),
    subscriptions: [await stack.subscriptionAt(receiver.url(path))],
  };
}
